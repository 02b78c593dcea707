#include "conformance_cases.hpp"

#include <array>

#include "f16.hpp"
#include "reference/numbers.hpp"

namespace heed::testing {
namespace {

/// The formal order of ONNX's inputs.
enum Input : std::uint8_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kKeyLengths };

bool is_half(const Json& tensor) { return tensor["dtype"] == "float16"; }
bool is_float(const Json& tensor) { return tensor["dtype"] == "float32" || is_half(tensor); }

/// The same rule as tests/conformance/onnx.ts.
std::string find_obstacle(const Json& one) {
  static const std::array known = {"scale",
                                   "is_causal",
                                   "q_num_heads",
                                   "kv_num_heads",
                                   "softcap",
                                   "left_window_size",
                                   "right_window_size",
                                   "qk_matmul_output_mode",
                                   "softmax_precision"};
  for (const auto& [name, value] : one["attributes"].items()) {
    if (std::ranges::find(known, name) == known.end()) return "attribute " + name;
  }
  if (one["attributes"].value("softmax_precision", 1) != 1) return "attribute softmax_precision";
  const Json& inputs = one["inputs"];
  for (std::size_t at = kKeyLengths + 1; at < inputs.size(); ++at) {
    if (!inputs[at].is_null()) return "input " + inputs[at]["name"].get<std::string>();
  }
  return "";
}

/// Of either precision, in single.
Owned<float> read_floats(const Json& tensor, const Bytes& bytes, Index heads) {
  if (!is_half(tensor)) return read_tensor<float>(tensor, bytes, heads);
  const Owned<Float16> f16s = read_tensor<Float16>(tensor, bytes, heads);
  Owned<float> made = allocate(f16s.view.shape, heads > 0 ? Layout::bnhd : Layout::bhnd, 0.0F);
  for_each_element(f16s.view.shape, [&](Index b, Index h, Index i, Index d) {
    made(b, h, i, d) = static_cast<float>(reference::value_of(f16s(b, h, i, d)));
  });
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

/// Lengths of keys, with ONNX's offset for causal and window: the length of the past, or as many keys as there are
/// less as many queries, or 0.
void read_lengths(const Json& inputs, const Bytes& bytes, Index past, AttentionTensors& tensors) {
  const Index batch = tensors.query.view.shape[0];
  const Index queries = tensors.query.view.shape[2];
  tensors.query_offsets.assign(static_cast<std::size_t>(batch), static_cast<std::int32_t>(past));
  if (const Json& given = item(inputs, kKeyLengths); !given.is_null()) {
    const std::vector<std::int64_t> lengths = read_integers(given, bytes);
    REQUIRE(lengths.size() == static_cast<std::size_t>(batch));
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      tensors.key_lengths.push_back(static_cast<std::int32_t>(lengths[b]));
      tensors.query_offsets[b] = static_cast<std::int32_t>(lengths[b] - queries);
    }
    tensors.options.key_lengths = tensors.key_lengths.data();
  }
  tensors.options.query_offsets = tensors.query_offsets.data();
}

void read_options(const Json& attributes, AttentionOptions& options) {
  if (attributes.contains("scale")) options.scale = attributes["scale"].get<float>();
  options.softcap = attributes.value("softcap", 0.0F);
  if (attributes.value("is_causal", 0) == 1) options.causal = Causal::lower_right;
  options.window = {.left = attributes.value("left_window_size", kOpen),
                    .right = attributes.value("right_window_size", kOpen)};
}

void read_results(const Json& one, const Bytes& bytes, Index heads, ConformanceCase& made) {
  const Json& outputs = one["outputs"];
  made.output = read_floats(outputs[0], bytes, heads);
  if (!item(outputs, 1).is_null()) made.present_key = read_floats(outputs[1], bytes, 0);
  if (!item(outputs, 2).is_null()) made.present_value = read_floats(outputs[2], bytes, 0);
  if (item(outputs, 3).is_null()) return;
  const int mode = one["attributes"].value("qk_matmul_output_mode", 0);
  std::optional<Owned<float>>& wanted = mode == 3 ? made.weights : made.scores;
  wanted = read_floats(outputs[3], bytes, 0);
  if (mode != 3) made.score_stage = static_cast<ScoreStage>(mode);
}

void read_numbers(const Json& one, const Bytes& bytes, ConformanceCase& made) {
  const Json& inputs = one["inputs"];
  const Json& attributes = one["attributes"];
  const bool is_packed = inputs[kQuery]["shape"].size() == 3;
  const Index heads = is_packed ? attributes["q_num_heads"].get<Index>() : 0;
  const Index kv_heads = is_packed ? attributes["kv_num_heads"].get<Index>() : 0;

  AttentionTensors& tensors = made.tensors;
  tensors.query = read_floats(inputs[kQuery], bytes, heads);
  tensors.key = read_floats(inputs[kKey], bytes, kv_heads);
  tensors.value = read_floats(inputs[kValue], bytes, kv_heads);
  Index past = 0;
  if (const Json& past_key = item(inputs, kPastKey); !past_key.is_null()) {
    past = past_key["shape"][2].get<Index>();
    tensors.key = join(read_floats(past_key, bytes, 0), tensors.key);
    tensors.value = join(read_floats(inputs[kPastValue], bytes, 0), tensors.value);
  }
  if (const Json& mask = item(inputs, kMask); !mask.is_null()) {
    if (is_float(mask)) {
      tensors.bias = read_floats(mask, bytes, 0);
    } else {
      REQUIRE(mask["dtype"] == "bool");
      tensors.mask = read_tensor<std::uint8_t>(mask, bytes, 0);
    }
  }
  if (is_half(inputs[kQuery])) {
    const Layout layout = is_packed ? Layout::bnhd : Layout::bhnd;
    tensors.half_query = halve(tensors.query, layout);
    tensors.half_key = halve(tensors.key, past > 0 ? Layout::bhnd : layout);
    tensors.half_value = halve(tensors.value, past > 0 ? Layout::bhnd : layout);
  }
  read_options(attributes, tensors.options);
  read_lengths(inputs, bytes, past, tensors);
  read_results(one, bytes, heads, made);
}

ConformanceCase read_case(const Json& one, const Bytes& bytes) {
  ConformanceCase made;
  made.name = one["name"].get<std::string>();
  made.obstacle = find_obstacle(one);
  if (made.obstacle.empty()) read_numbers(one, bytes, made);
  return made;
}

}  // namespace

std::vector<ConformanceCase> read_conformance_cases(const ConformanceFile& file) {
  std::vector<ConformanceCase> cases;
  for (const Json& one : file.index["cases"]) {
    if (one["op"] == "Attention") cases.push_back(read_case(one, file.bytes));
  }
  return cases;
}

}  // namespace heed::testing
