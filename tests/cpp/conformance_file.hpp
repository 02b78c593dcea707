// ONNX's cases as they lie: their index, their numbers, and what is wrong with a result.
#pragma once

#include <catch_amalgamated.hpp>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support.hpp"

namespace heed::testing {

using Json = nlohmann::json;
using Bytes = std::vector<char>;

struct ConformanceFile {
  Json index;
  Bytes bytes;
};

/// Nothing where the folder is missing: HEED_CONFORMANCE, or ../shared/conformance beside the repository. That is a
/// failure where HEED_CONFORMANCE_REQUIRED is 1, and else said, in words for `what` could not be seen.
const ConformanceFile* conformance_file(const char* what);

/// Entry `at` of a list that may end before; null where it is missing.
const Json& item(const Json& list, std::size_t at);

/// A packed [B, L, H * D], where there are heads, or plain tensor; of fewer axes than four, the last.
template <typename T>
Owned<T> read_tensor(const Json& tensor, const Bytes& bytes, Index heads) {
  const auto given = tensor["shape"].get<std::vector<Index>>();
  Owned<T> made;
  if (heads > 0) {
    made = allocate<T>({given[0], heads, given[1], given[2] / heads}, Layout::bnhd, T{});
  } else {
    Shape shape{1, 1, 1, 1};
    std::ranges::copy(given, shape.end() - static_cast<std::ptrdiff_t>(given.size()));
    made = allocate<T>(shape, Layout::bhnd, T{});
  }
  const auto length = tensor["length"].get<std::size_t>();
  REQUIRE(length == sizeof(T) * (made.numbers.size() - 1));
  std::memcpy(made.numbers.data(), bytes.data() + tensor["offset"].get<std::size_t>(), length);
  return made;
}

/// Whole numbers of 64 bits.
std::vector<std::int64_t> read_integers(const Json& tensor, const Bytes& bytes);

/// Numbers outside ONNX's own tolerance.
Index count_outside(const Json& index, const Owned<float>& got, const Owned<float>& expected);

}  // namespace heed::testing
