// Keys and values as a cache keeps them: in pages, at any precision.
#pragma once

#include <cstddef>
#include <vector>

#include "heed/attention.hpp"
#include "support.hpp"

namespace heed::testing {

/// How keys and values are to lie in pages.
struct Paging {
  DType dtype = DType::f32;  // of keys; int8 values are i8_values beside i8_keys
  Index rows = 96;           // of a page
  Index first = 0;           // places of the first page that are not theirs
  bool is_finite = false;    // f16 is said to be
};

/// Pages with the numbers of `inputs`, rounded as `paging` says, in memory in no order; what no row holds is NaN.
class Paged {
 public:
  Paged(Random& random, const AttentionInputs& inputs, const Paging& paging);

  /// `inputs` with the keys and values of these pages.
  [[nodiscard]] AttentionInputs inputs() const { return paged_; }

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<const void*> table_;
  AttentionInputs paged_;
};

}  // namespace heed::testing
