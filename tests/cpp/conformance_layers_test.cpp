// ONNX's own LayerNormalization and RMSNormalization cases.
#include <cstdio>

#include "conformance_file.hpp"
#include "heed/machine.hpp"
#include "operations/norm.hpp"

namespace heed::testing {
namespace {

/// A tensor of one's own, of another's shape.
Owned<float> like(const Owned<float>& other) { return allocate<float>(other.view.shape, Layout::bhnd, 0.0F); }

void check_norm(const Json& one, const ConformanceFile& file, bool is_centred) {
  const auto read = [&](const Json& tensor) { return read_tensor<float>(tensor, file.bytes, 0); };
  const Json& inputs = one["inputs"];
  const auto sizes = inputs[0]["shape"].get<std::vector<Index>>();
  const auto rank = static_cast<Index>(sizes.size());
  const Index given = one["attributes"].value("axis", Index{-1});
  Index length = 1;
  for (Index axis = given < 0 ? rank + given : given; axis < rank; ++axis)
    length *= sizes[static_cast<std::size_t>(axis)];
  const Owned<float> x = read(inputs[0]), weight = read(inputs[1]), expected = read(one["outputs"][0]);
  const Owned<float> bias = item(inputs, 2).is_null() ? Owned<float>() : read(inputs[2]);
  const Index count = element_count(x.view.shape) / length;
  const RowNorm norm{.is_centred = is_centred,
                     .epsilon = one["attributes"].value("epsilon", 1e-5F),
                     .weight = weight.view.data,
                     .bias = bias.view.data};
  INFO(one["name"]);
  const Owned<float> output = like(x);
  REQUIRE(run(NormCall{{x.view.data, count, length, length}, norm, {output.view.data, count, length, length}},
              calling_thread())
              .is_ok());
  CHECK(count_outside(file.index, output, expected) == 0);
}

/// How many cases of an operator there were; -1 where their folder is missing.
int check_all(const char* op, bool is_centred) {
  const ConformanceFile* const file = conformance_file((std::string(op) + " cases").c_str());
  if (file == nullptr) return -1;
  int count = 0;
  for (const Json& one : file->index["cases"]) {
    if (one["op"] != op) continue;
    check_norm(one, *file, is_centred);
    ++count;
  }
  std::printf("conformance: %d of %d %s cases covered\n", count, count, op);
  return count;
}

}  // namespace

TEST_CASE("ONNX's layer normalization cases come out within ONNX's tolerance") {
  CHECK(check_all("LayerNormalization", true) != 0);
}

TEST_CASE("ONNX's RMS normalization cases come out within ONNX's tolerance") {
  CHECK(check_all("RMSNormalization", false) != 0);
}

}  // namespace heed::testing
