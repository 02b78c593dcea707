// ONNX's own FlexAttention cases; their graphs of scores are read as expressions.
#include <cstdio>
#include <map>

#include "attention_check.hpp"
#include "conformance_file.hpp"
#include "expression_program.hpp"
#include "f16.hpp"
#include "reference/numbers.hpp"

namespace heed::testing {
namespace {

/// Of any precision, in single.
Owned<float> read_floats(const Json& tensor, const Bytes& bytes) {
  if (tensor["dtype"] == "float32") return read_tensor<float>(tensor, bytes, 0);
  const auto convert = [](const auto& given, auto single) {
    Owned<float> made = allocate(given.view.shape, Layout::bhnd, 0.0F);
    for_each_element(given.view.shape,
                     [&](Index b, Index h, Index i, Index d) { made(b, h, i, d) = single(given(b, h, i, d)); });
    return made;
  };
  if (tensor["dtype"] == "float64") {
    return convert(read_tensor<double>(tensor, bytes, 0), [](double number) { return static_cast<float>(number); });
  }
  REQUIRE(tensor["dtype"] == "float16");
  return convert(read_tensor<Float16>(tensor, bytes, 0),
                 [](Float16 half) { return static_cast<float>(reference::value_of(half)); });
}

float number_of(const Json& value) {
  if (value.is_number()) return value.get<float>();
  REQUIRE(value == "-Infinity");
  return -kInfinity;
}

Program read_graph(const Json& graph) {
  Program program;
  std::map<std::string, Program::Value> values{{graph["inputs"][0].get<std::string>(), program.score()}};
  std::map<std::string, std::vector<Json>> constants;
  for (const Json& one : graph["initializers"]) constants[one["name"]] = one["values"].get<std::vector<Json>>();
  const auto value_of = [&](const std::string& name) {
    if (values.contains(name)) return values.at(name);
    REQUIRE(constants[name].size() == 1);
    return program.constant(number_of(constants[name][0]));
  };
  for (const Json& node : graph["nodes"]) {
    const auto op = node["op"].get<std::string>();
    const auto inputs = node["inputs"].get<std::vector<std::string>>();
    const auto output = node["outputs"][0].get<std::string>();
    INFO("node " << op);
    if (op == "Add") {
      values[output] = program.apply(Opcode::add, {value_of(inputs[0]), value_of(inputs[1])});
    } else if (op == "GreaterOrEqual") {
      values[output] = program.apply(Opcode::less_equal, {value_of(inputs[1]), value_of(inputs[0])});
    } else if (op == "Where") {
      values[output] = program.apply(Opcode::select, {value_of(inputs[0]), value_of(inputs[1]), value_of(inputs[2])});
    } else if (op == "Reshape") {
      // What counts along the axis that is left open.
      const std::vector<Json>& shape = constants.at(inputs[1]);
      REQUIRE((shape[2] == -1 || shape[3] == -1));
      values[output] = shape[2] == -1 ? program.query() : program.key();
    } else {
      REQUIRE((op == "Shape" || op == "Gather" || op == "Range"));
    }
  }
  program.finish(value_of(graph["outputs"][0].get<std::string>()));
  return program;
}

void check_flex(const Json& one, const ConformanceFile& file) {
  const Json& inputs = one["inputs"];
  AttentionTensors tensors;
  tensors.query = read_floats(inputs[0], file.bytes);
  tensors.key = read_floats(inputs[1], file.bytes);
  tensors.value = read_floats(inputs[2], file.bytes);
  if (inputs[0]["dtype"] == "float16") {
    tensors.half_query = halve(tensors.query, Layout::bhnd);
    tensors.half_key = halve(tensors.key, Layout::bhnd);
    tensors.half_value = halve(tensors.value, Layout::bhnd);
  }
  if (one["attributes"].contains("scale")) tensors.options.scale = one["attributes"]["scale"].get<float>();
  if (one.contains("graph_attributes")) {
    const Program program = read_graph(one["graph_attributes"]["score_mod"]);
    tensors.expressions = OwnedExpressions({&program});
    tensors.options.expressions = tensors.expressions.view();
  }
  INFO(one["name"]);
  const Results results = run(tensors.inputs(), tensors.options);
  CHECK(count_outside(file.index, results.output, read_floats(one["outputs"][0], file.bytes)) == 0);
}

}  // namespace

TEST_CASE("ONNX's flex attention cases come out within ONNX's tolerance") {
  const ConformanceFile* const file = conformance_file("6 FlexAttention cases");
  if (file == nullptr) return;
  int count = 0;
  for (const Json& one : file->index["cases"]) {
    if (one["op"] != "FlexAttention") continue;
    check_flex(one, *file);
    ++count;
  }
  std::printf("conformance: %d of %d FlexAttention cases covered\n", count, count);
  CHECK(count > 0);
}

}  // namespace heed::testing
