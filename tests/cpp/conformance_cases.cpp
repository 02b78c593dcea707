#include "conformance_cases.hpp"

#include <array>
#include <catch_amalgamated.hpp>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace heed::testing {
namespace {

using Json = nlohmann::json;
using Bytes = std::vector<char>;

/// The formal order of ONNX's inputs.
enum Input : std::uint8_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue };

const Json kAbsent;

const Json& item(const Json& list, std::size_t at) { return at < list.size() ? list[at] : kAbsent; }

bool is_float(const Json& tensor) { return tensor["dtype"] == "float32"; }

/// The same rule as tests/conformance/onnx.ts, except that a past is told apart: it can be tried by hand.
std::string find_obstacle(const Json& one) {
  static const std::map<std::string, int> neutral = {
      {"softcap", 0}, {"left_window_size", -1}, {"right_window_size", -1}, {"softmax_precision", 1}};
  static const std::array known = {"scale", "is_causal", "q_num_heads", "kv_num_heads", "qk_matmul_output_mode"};
  for (const auto& [name, value] : one["attributes"].items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto harmless = neutral.find(name);
    if (harmless == neutral.end() || value != harmless->second) return "attribute " + name;
  }
  const Json& inputs = one["inputs"];
  for (std::size_t at = kPastValue + 1; at < inputs.size(); ++at) {
    if (!inputs[at].is_null()) return "input " + inputs[at]["name"].get<std::string>();
  }
  for (const Json& input : inputs) {
    if (!input.is_null() && !is_float(input) && input["dtype"] != "bool") return "dtype " + input["dtype"].dump();
  }
  return "";
}

/// A packed [B, L, H * D] or plain [B, H, L, D] tensor; masks of any rank broadcast from the right.
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

/// Past and new along the keys.
Owned<float> join(const Owned<float>& past, const Owned<float>& added) {
  Shape shape = added.view.shape;
  const Index old = past.view.shape[2];
  shape[2] += old;
  Owned<float> whole = allocate(shape, Layout::bhnd, 0.0F);
  for_each_element(shape, [&](Index b, Index h, Index j, Index d) {
    whole(b, h, j, d) = j < old ? past(b, h, j, d) : added(b, h, j - old, d);
  });
  return whole;
}

void read_numbers(const Json& one, const Bytes& bytes, ConformanceCase& made) {
  const Json& inputs = one["inputs"];
  const Json& outputs = one["outputs"];
  const Json& attributes = one["attributes"];
  const bool is_packed = inputs[kQuery]["shape"].size() == 3;
  const Index heads = is_packed ? attributes["q_num_heads"].get<Index>() : 0;
  const Index kv_heads = is_packed ? attributes["kv_num_heads"].get<Index>() : 0;

  AttentionTensors& tensors = made.tensors;
  tensors.query = read_tensor<float>(inputs[kQuery], bytes, heads);
  tensors.key = read_tensor<float>(inputs[kKey], bytes, kv_heads);
  tensors.value = read_tensor<float>(inputs[kValue], bytes, kv_heads);
  if (made.has_past) {
    tensors.key = join(read_tensor<float>(inputs[kPastKey], bytes, 0), tensors.key);
    tensors.value = join(read_tensor<float>(inputs[kPastValue], bytes, 0), tensors.value);
    made.present_key = read_tensor<float>(outputs[1], bytes, 0);
    made.present_value = read_tensor<float>(outputs[2], bytes, 0);
  }
  if (const Json& mask = item(inputs, kMask); !mask.is_null()) {
    if (is_float(mask)) {
      tensors.bias = read_tensor<float>(mask, bytes, 0);
    } else {
      tensors.mask = read_tensor<std::uint8_t>(mask, bytes, 0);
    }
  }
  if (attributes.contains("scale")) tensors.options.scale = attributes["scale"].get<float>();
  if (attributes.value("is_causal", 0) == 1) {
    // ONNX's offset is the length of the past. With one new key for each query that is S - L, lower-right.
    const Index new_keys = inputs[kKey]["shape"][is_packed ? 1 : 2].get<Index>();
    if (made.has_past && new_keys != tensors.query.view.shape[2]) {
      made.obstacle = "a past whose offset is no alignment";
      return;
    }
    tensors.options.causal = made.has_past ? Causal::lower_right : Causal::upper_left;
  }
  made.output = read_tensor<float>(outputs[0], bytes, heads);
  const Json& weights = item(outputs, 3);
  if (!weights.is_null() && attributes.value("qk_matmul_output_mode", 0) == 3) {
    made.weights = read_tensor<float>(weights, bytes, 0);
  }
}

ConformanceCase read_case(const Json& one, const Bytes& bytes) {
  ConformanceCase made;
  made.name = one["name"].get<std::string>();
  made.has_past = !item(one["inputs"], kPastKey).is_null();
  made.obstacle = find_obstacle(one);
  if (made.obstacle.empty()) read_numbers(one, bytes, made);
  const bool wants_scores =
      !item(one["outputs"], 3).is_null() && one["attributes"].value("qk_matmul_output_mode", 0) != 3;
  if (made.obstacle.empty() && made.has_past) made.obstacle = "input past_key";
  if (made.obstacle.empty() && wants_scores) made.obstacle = "scores as a result";
  return made;
}

std::string folder() {
  const char* const given = std::getenv("HEED_CONFORMANCE");
  return std::string(given == nullptr ? HEED_TEST_CONFORMANCE : given) + "/onnx/";
}

}  // namespace

std::optional<ConformanceSet> read_conformance_cases() {
  std::ifstream index(folder() + "cases.json");
  std::ifstream numbers(folder() + "cases.bin", std::ios::binary);
  if (!index || !numbers) return std::nullopt;
  const Json json = Json::parse(index);
  const Bytes bytes((std::istreambuf_iterator<char>(numbers)), std::istreambuf_iterator<char>());
  REQUIRE(bytes.size() == json["bin_bytes"].get<std::size_t>());

  ConformanceSet set;
  set.relative_tolerance = json["tolerance"]["rtol"].get<double>();
  set.absolute_tolerance = json["tolerance"]["atol"].get<double>();
  for (const Json& one : json["cases"]) {
    if (one["op"] == "Attention") set.cases.push_back(read_case(one, bytes));
  }
  return set;
}

}  // namespace heed::testing
