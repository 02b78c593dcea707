#include "operations/attention/describe.hpp"

#include <algorithm>
#include <limits>

#include "kernels/decode/streams.hpp"
#include "kernels/softmax/dropout_hash.hpp"
#include "kernels/task/score_constants.hpp"
#include "problem/key_range.hpp"

namespace heed {
namespace {

// A step has whole groups of skip_keys, or a part of one; if it starts inside one, as a page may, it has parts of two.
static_assert(kMaxKeyBlock / (2 * kLeastSkipKeys) < kernels::kMaxSegments);

static_assert(kStreams == kernels::kStreams);

kernels::Pairing pairing_of(ScoreKind kind) {
  switch (kind) {
    case ScoreKind::additive:
      return kernels::Pairing::tanh_sum;
    case ScoreKind::rbf:
    case ScoreKind::distance:
      return kernels::Pairing::squared_difference;
    default:
      return kernels::Pairing::product;
  }
}

kernels::ScoreTransform transform_of(ScoreKind kind) {
  switch (kind) {
    case ScoreKind::cosine:
      return kernels::ScoreTransform::times_key;
    case ScoreKind::gated:
      return kernels::ScoreTransform::gate;
    case ScoreKind::rbf:
      return kernels::ScoreTransform::times_row;
    case ScoreKind::distance:
      return kernels::ScoreTransform::root_times_row;
    default:
      return kernels::ScoreTransform::none;
  }
}

/// The factor of a query, and its operand for the score transform.
void describe_score(const AttentionProblem& problem, const float* prepared, Index batch, Index head, Index query,
                    kernels::RowInputs& row) {
  const Index head_of_whole = problem.whole.first_head + head;
  const ScoreFunction& score = problem.options.score;
  const float factor = problem.scale * raw_scale(problem);
  const Index index = (batch * problem.query_heads + head) * problem.query_length + query;
  row.query_factor = factor;
  switch (score.kind) {
    case ScoreKind::cosine:
      row.query_factor = factor * prepared[index];
      return;
    case ScoreKind::gated:
      row.row_operand = prepared[index];
      return;
    case ScoreKind::additive:
      row.query_factor = 1.0F;
      return;
    case ScoreKind::rbf: {
      const auto bandwidth =
          static_cast<double>(*score.bandwidth.at(0, score.bandwidth.shape[1] == 1 ? 0 : head_of_whole, 0));
      row.query_factor = 1.0F;
      row.row_operand = static_cast<float>(-static_cast<double>(factor) / (2.0 * bandwidth * bandwidth));
      return;
    }
    case ScoreKind::distance:
      row.query_factor = 1.0F;
      row.row_operand = -factor;
      return;
    default:
      return;
  }
}

}  // namespace

float log2e_scale(const AttentionProblem& problem) {
  const Normalizer normalizer = problem.options.normalizer;
  return normalizer == Normalizer::softmax || normalizer == Normalizer::sigmoid ? kernels::kLog2E : 1.0F;
}

float raw_scale(const AttentionProblem& problem) {
  return problem.options.expressions.have(ProgramOf::score) ? 1.0F : log2e_scale(problem);
}

kernels::RowInputs describe_query(const AttentionProblem& problem, const ScoreOperands& operands, Index batch,
                                  Index head, Index query) {
  const AttentionOptions& options = problem.options;
  const SliceOf& whole = problem.whole;
  const Index head_of_whole = whole.first_head + head;
  const KeyRange keys = visible_keys(problem, batch, query);
  kernels::RowInputs row{};
  row.query = float_row(operands.query, batch, head, query);
  describe_score(problem, operands.query_operands, batch, head, query, row);
  row.mask = operands.mask.at(batch, head, query);
  row.bias = operands.bias.at(batch, head, query);
  const SparseBlocks& blocks = options.blocks;
  if (blocks.keep.is_present()) {
    row.keep = blocks.keep.at(whole.first_batch + batch, head_of_whole, (whole.first_query + query) / blocks.queries);
  }
  const Index index[] = {whole.first_batch + batch, head_of_whole, whole.first_query + query};
  for (int i = 0; i < 3; ++i) row.index[i] = static_cast<float>(index[i]);
  row.position = static_cast<float>(position_of(problem, batch, query));
  row.alibi_slope = options.alibi_slopes == nullptr ? 0.0F : options.alibi_slopes[head_of_whole];
  row.sink = options.sinks == nullptr ? -std::numeric_limits<float>::infinity() : options.sinks[head_of_whole];
  if (problem.dropout.is_on) {
    const Index number = ((whole.first_batch + batch) * whole.query_heads + head_of_whole) * whole.query_length +
                         whole.first_query + query;
    row.dropout_stream = kernels::dropout_stream(problem.dropout.seed, static_cast<std::uint32_t>(number));
  }
  row.key_begin = static_cast<std::int32_t>(keys.begin);
  row.key_end = static_cast<std::int32_t>(keys.end);
  return row;
}

kernels::AttentionTask describe_group(const AttentionProblem& problem, const ScoreOperands& operands,
                                      const AttentionPlan& plan, Index batch, Index group) {
  const SparseBlocks& blocks = problem.options.blocks;
  const ScoreKind score = problem.options.score.kind;
  WeightOptions weight = problem.options;
  weight.top_k = static_cast<std::int32_t>(problem.top_k);
  // A hard maximum is the softmax of the best key.
  if (weight.normalizer == Normalizer::hard) weight.normalizer = Normalizer::softmax;
  const Index number = batch * problem.groups + group;
  const float* const key_operands =
      operands.key_operands == nullptr ? nullptr : operands.key_operands + number * operands.key_stride;
  const float* const pair_weights =
      operands.pair_weights == nullptr ? nullptr : operands.pair_weights + group * operands.pair_stride;
  kernels::AttentionTask task{
      .rows = nullptr,
      .row_count = 0,
      .key = rows_of(operands.key, batch, problem.head_of(group, operands.key.shape[1])),
      .value = rows_of(operands.value, batch, problem.head_of(group, operands.value.shape[1])),
      .key_length = static_cast<int>(problem.key_length),
      .own_length = static_cast<int>(keys_of_entry(problem, batch)),
      .head_dim = static_cast<int>(problem.head_dim),
      .value_dim = static_cast<int>(problem.value_dim),
      .score = {.pairing = pairing_of(score),
                .transform = transform_of(score),
                .key_operands = key_operands,
                .pair_weights = pair_weights,
                .log2e_scale = log2e_scale(problem),
                .raw_scale = raw_scale(problem),
                .stage = problem.outputs.score_stage,
                .mod = nullptr},
      .mask = {.mask_stride = static_cast<std::ptrdiff_t>(operands.mask.strides[3]),
               .bias_stride = static_cast<std::ptrdiff_t>(operands.bias.strides[3]),
               .keep_stride = static_cast<std::ptrdiff_t>(blocks.keep.strides[3]),
               .addend_length = static_cast<int>(problem.key_limit),
               .keep_block_keys = blocks.keep.is_present()
                                      ? static_cast<int>(std::min(blocks.keys, std::max<Index>(problem.key_length, 1)))
                                      : 0,
               .mod = nullptr},
      .weight = {.has_dropout = problem.dropout.is_on,
                 .dropout_limit = problem.dropout.limit,
                 .dropout_factor = problem.dropout.factor,
                 .head_weight = 1.0F,
                 .mod = nullptr,
                 .stats_normalizer = weight.normalizer},
      .loop = {.key_block = plan.key_block,
               .stream_keys = plan.stream_keys,
               .skip_keys = plan.skip_keys,
               .stop = problem.options.stop},
      .scratch = {},
  };
  static_cast<ScoreOptions&>(task.score) = problem.options;
  static_cast<WeightOptions&>(task.weight) = weight;
  return task;
}

}  // namespace heed
