#include "reference/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/expressions.hpp"
#include "reference/normalizers.hpp"
#include "reference/numbers.hpp"
#include "reference/scores.hpp"

namespace heed::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One query: its batch entry, head and position.
struct Row {
  Index b, h, i;
};

/// The element of a broadcast operand for key j, or `beyond` past the end of its keys.
template <typename T>
double element(const TensorView<const T>& view, const Row& row, Index j, double beyond) {
  if (view.shape[3] != 1 && j >= view.shape[3]) return beyond;
  const std::array<Index, 4> at = {row.b, row.h, row.i, j};
  Index offset = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    if (view.shape[axis] != 1) offset += at[axis] * view.strides[axis];
  }
  return static_cast<double>(view.data[offset]);
}

/// The sequence whose queries, or keys, `index` is among.
Index sequence_of(const PackedSequences& sequences, const std::int32_t* starts, Index index) {
  for (Index n = 0; n < sequences.count; ++n) {
    if (starts[n] <= index && index < starts[n + 1]) return n;
  }
  return -1;
}

/// The position of the query among the keys.
Index position(const AttentionInputs& in, const AttentionOptions& options, const Row& row) {
  if (const PackedSequences& sequences = options.sequences; sequences.are_given()) {
    const Index n = sequence_of(sequences, sequences.query_starts, row.i);
    const Index local = row.i - sequences.query_starts[n];
    const Index keys = sequences.keys()[n + 1] - sequences.keys()[n];
    const Index queries = sequences.query_starts[n + 1] - sequences.query_starts[n];
    Index offset = options.causal == Causal::upper_left ? 0 : keys - queries;
    if (options.query_offsets != nullptr) offset = options.query_offsets[n];
    return sequences.keys()[n] + local + offset;
  }
  if (options.query_offsets != nullptr) return row.i + options.query_offsets[row.b];
  if (options.causal == Causal::upper_left) return row.i;
  const Index keys = options.key_lengths != nullptr ? options.key_lengths[row.b] : in.key.shape[2];
  const Index queries = options.query_lengths != nullptr ? options.query_lengths[row.b] : in.query.shape[2];
  return row.i + keys - queries;
}

bool is_masked(const AttentionInputs& in, const AttentionOptions& options, const Row& row, Index j) {
  const Index at = position(in, options, row);
  if (const PackedSequences& sequences = options.sequences; sequences.are_given()) {
    const Index of_query = sequence_of(sequences, sequences.query_starts, row.i);
    if (sequence_of(sequences, sequences.keys(), j) != of_query) return true;
  }
  if (options.query_lengths != nullptr && row.i >= options.query_lengths[row.b]) return true;
  if (options.key_lengths != nullptr && j >= options.key_lengths[row.b]) return true;
  if (options.causal != Causal::none && j > at) return true;
  if (options.window.left != kOpen && j < at - options.window.left) return true;
  if (options.window.right != kOpen && j > at + options.window.right) return true;
  if (const SparseBlocks& blocks = options.blocks; blocks.keep.is_present()) {
    if (element(blocks.keep, {.b = row.b, .h = row.h, .i = row.i / blocks.queries}, j / blocks.keys, 0.0) == 0.0)
      return true;
  }
  if (!mask_mod(options.expressions, {.score = 0.0, .b = row.b, .h = row.h, .i = row.i, .j = j})) return true;
  if (in.mask.is_present() && element(in.mask, row, j, 0.0) == 0.0) return true;
  return in.bias.is_present() && element(in.bias, row, j, -kInfinity) == -kInfinity;
}

/// One key's score, by ScoreStage.
using Stages = std::array<double, 3>;

/// The score of key j at each stage; a masked one is -infinity at the last.
Stages score(const AttentionInputs& in, const AttentionOptions& options, const Row& row,
             const std::vector<double>& query, const std::vector<double>& key, Index j) {
  const double raw = scale_of(options, query.size()) * pair_score(options.score, row.h, query, key);
  double capped = raw;
  if (options.softcap != 0.0F) {
    const auto cap = static_cast<double>(options.softcap);
    capped = cap * std::tanh(raw / cap);
  }
  if (is_masked(in, options, row, j)) return {raw, capped, -kInfinity};
  double sum = capped;
  if (options.expressions.have(ProgramOf::score)) {
    sum = score_mod(options.expressions, {.score = capped, .b = row.b, .h = row.h, .i = row.i, .j = j});
  }
  if (options.alibi_slopes != nullptr) {
    const double distance = std::abs(static_cast<double>(position(in, options, row) - j));
    sum -= static_cast<double>(options.alibi_slopes[row.h]) * distance;
  }
  if (in.bias.is_present()) sum += element(in.bias, row, j, -kInfinity);
  return {raw, capped, sum};
}

/// Follows docs/semantics/attention.md, one step a line.
std::uint32_t mixed(std::uint32_t x) {
  x ^= x >> 16U;
  x *= 0x7FEB352DU;
  x ^= x >> 15U;
  x *= 0x846CA68BU;
  x ^= x >> 16U;
  return x;
}

/// What dropout multiplies a key's weight with.
double kept(const AttentionInputs& in, const AttentionOptions& options, const Row& row, Index j) {
  if (options.dropout.p == 0.0F) return 1.0;
  const auto p = static_cast<double>(options.dropout.p);
  const auto number = static_cast<std::uint32_t>((row.b * in.query.shape[1] + row.h) * in.query.shape[2] + row.i);
  const std::uint32_t of_seed = mixed(options.dropout.seed + 0x9E3779B9U);
  const std::uint32_t of_row = mixed(of_seed ^ number);
  const std::uint32_t of_key = mixed(of_row ^ (static_cast<std::uint32_t>(j) * 0x9E3779B9U));
  return static_cast<double>(of_key) < std::floor(p * 4294967296.0) ? 0.0 : 1.0 / (1.0 - p);
}

/// The keys and values that a head reads.
struct Memory {
  std::vector<std::vector<double>> keys, values;
};

void attend(const AttentionInputs& in, const AttentionOptions& options, const Row& row, const Memory& memory,
            AttentionResult& result) {
  const Index keys = in.key.shape[2];

  std::vector<double> weights;
  weights.reserve(static_cast<std::size_t>(keys));
  const std::vector<double> query = read_row(in.query, row.b, row.h, row.i);
  for (Index j = 0; j < keys; ++j) {
    const Stages stages = score(in, options, row, query, memory.keys[static_cast<std::size_t>(j)], j);
    for (std::size_t stage = 0; stage < stages.size(); ++stage) result.scores[stage].push_back(stages[stage]);
    weights.push_back(stages.back());
  }
  const double sink = options.sinks == nullptr ? -kInfinity : static_cast<double>(options.sinks[row.h]);
  const Normalized normalized = normalize(weights, options, sink);
  const std::vector<double> seen = best_of(weights, options);
  weights = normalized.weights;

  result.probabilities.insert(result.probabilities.end(), weights.begin(), weights.end());
  for (Index j = 0; j < keys && options.expressions.have(ProgramOf::weight); ++j) {
    double& weight = weights[static_cast<std::size_t>(j)];
    if (seen[static_cast<std::size_t>(j)] == -kInfinity) continue;
    weight = weight_mod(options.expressions, {.score = weight, .b = row.b, .h = row.h, .i = row.i, .j = j});
  }
  for (Index j = 0; j < keys; ++j) {
    result.kept.push_back(kept(in, options, row, j));
    weights[static_cast<std::size_t>(j)] *= result.kept.back();
  }

  std::vector<double> output(static_cast<std::size_t>(in.value.shape[3]));
  for (Index j = 0; j < keys; ++j) {
    const double weight = weights[static_cast<std::size_t>(j)];
    if (weight == 0.0) continue;
    const std::vector<double>& value = memory.values[static_cast<std::size_t>(j)];
    for (std::size_t e = 0; e < output.size(); ++e) output[e] += weight * value[e];
  }
  result.output.insert(result.output.end(), output.begin(), output.end());
  result.weights.insert(result.weights.end(), weights.begin(), weights.end());
  result.log_sum_exp.push_back(normalized.log_sum_exp);
  result.entropy.push_back(normalized.entropy);
}

}  // namespace

AttentionResult attention(const AttentionInputs& inputs, const AttentionOptions& options) {
  const auto [batch, heads, queries, head_dim] = inputs.query.shape;
  AttentionResult result;
  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < heads; ++h) {
      const Index kv_head = h / (heads / inputs.key.shape[1]);
      const Memory memory{.keys = read_rows(inputs.key, b, kv_head), .values = read_rows(inputs.value, b, kv_head)};
      for (Index i = 0; i < queries; ++i) attend(inputs, options, {.b = b, .h = h, .i = i}, memory, result);
    }
  }
  return result;
}

}  // namespace heed::reference
