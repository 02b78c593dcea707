// ONNX's own LinearAttention and RotaryEmbedding cases.
#include <cstdio>

#include "conformance_file.hpp"
#include "heed/machine.hpp"
#include "linear_case.hpp"
#include "operations/rope.hpp"

namespace heed::testing {
namespace {

/// Empty where the case leaves it out.
Owned<float> floats(const Json& tensor, const Bytes& bytes, Index heads) {
  return tensor.is_null() ? Owned<float>() : read_tensor<float>(tensor, bytes, heads);
}

LinearRule rule_of(const std::string& name) {
  if (name == "linear") return LinearRule::linear;
  if (name == "gated") return LinearRule::gated;
  if (name == "delta") return LinearRule::delta;
  REQUIRE(name == "gated_delta");
  return LinearRule::gated_delta;
}

void check_linear(const Json& one, const ConformanceFile& file) {
  const Json& inputs = one["inputs"];
  const Json& attributes = one["attributes"];
  const auto heads = attributes["q_num_heads"].get<Index>();
  const auto kv_heads = attributes["kv_num_heads"].get<Index>();
  const auto at = [&](std::size_t number, Index packed) { return floats(item(inputs, number), file.bytes, packed); };
  const Json& given_beta = item(inputs, 5);
  const Index beta_heads = given_beta.is_null() ? 0 : given_beta["shape"][2].get<Index>();
  const Owned<float> query = at(0, heads), key = at(1, kv_heads), value = at(2, kv_heads), state = at(3, 0),
                     decay = at(4, kv_heads), beta = at(5, beta_heads);
  LinearOptions options{.rule = rule_of(attributes.value("update_rule", "gated_delta"))};
  if (const float scale = attributes.value("scale", 0.0F); scale != 0.0F) options.scale = scale;
  const LinearInputs call{query.reading(), key.reading(),  value.reading(),
                          decay.reading(), beta.reading(), state.reading()};
  INFO(one["name"]);
  const LinearGot got = run(call, options);
  CHECK(count_outside(file.index, got.output, floats(one["outputs"][0], file.bytes, heads)) == 0);
  CHECK(count_outside(file.index, got.state, floats(one["outputs"][1], file.bytes, 0)) == 0);
}

void check_rope(const Json& one, const ConformanceFile& file) {
  const Json& inputs = one["inputs"];
  const Json& attributes = one["attributes"];
  const Index heads = attributes.value("num_heads", Index{0});
  const Owned<float> input = floats(inputs[0], file.bytes, heads);
  // [rows, R / 2] is a row's place among the last axes; [B, rows, R / 2] has its batch in front.
  const auto table = [&](std::size_t number) {
    return floats(inputs[number], file.bytes, inputs[number]["shape"].size() == 3 ? 1 : 0);
  };
  const Owned<float> cosines = table(1), sines = table(2);
  std::vector<double> positions;
  if (const Json& ids = item(inputs, 3); !ids.is_null()) {
    for (const std::int64_t id : read_integers(ids, file.bytes)) positions.push_back(static_cast<double>(id));
  }
  const RopeOptions options{.rotary_dim = attributes.value("rotary_embedding_dim", Index{0}),
                            .interleaved = attributes.value("interleaved", 0) == 1,
                            .positions = positions.empty() ? nullptr : positions.data(),
                            .positions_by_batch = true};
  INFO(one["name"]);
  const Owned<float> output = allocate(input.view.shape, Layout::padded, kUntouched);
  const Status status =
      rope({input.reading(), cosines.reading(), sines.reading()}, options, output.view, calling_thread());
  INFO(status.message());
  REQUIRE(status.is_ok());
  CHECK(count_outside(file.index, output, floats(one["outputs"][0], file.bytes, heads)) == 0);
}

/// How many cases of an operator there were.
int check_all(const char* op, void (*check)(const Json&, const ConformanceFile&)) {
  const ConformanceFile* const file = conformance_file((std::string(op) + " cases").c_str());
  if (file == nullptr) return -1;
  int count = 0;
  for (const Json& one : file->index["cases"]) {
    if (one["op"] != op) continue;
    check(one, *file);
    ++count;
  }
  std::printf("conformance: %d of %d %s cases covered\n", count, count, op);
  return count;
}

}  // namespace

TEST_CASE("ONNX's linear attention cases come out within ONNX's tolerance") {
  CHECK(check_all("LinearAttention", check_linear) != 0);
}

TEST_CASE("ONNX's rotary embedding cases come out within ONNX's tolerance") {
  CHECK(check_all("RotaryEmbedding", check_rope) != 0);
}

}  // namespace heed::testing
