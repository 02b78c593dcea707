#include "ops/describe.hpp"

#include <algorithm>
#include <limits>

#include "kernels/dropout_hash.hpp"
#include "kernels/runs.hpp"
#include "kernels/score_units.hpp"
#include "problem/key_range.hpp"

namespace heed {
namespace {

// A step has whole units, or a part of one; where it starts amid one, as a page may, it has parts of two.
static_assert(kMaxKeyBlock / (2 * kLeastKeyUnit) < kernels::kMaxPieces);

static_assert(kRunsByTurns == kernels::kRuns);

kernels::Pairing pairing_of(ScoreKind kind) {
  switch (kind) {
    case ScoreKind::additive:
      return kernels::Pairing::bend;
    case ScoreKind::rbf:
    case ScoreKind::distance:
      return kernels::Pairing::difference;
    default:
      return kernels::Pairing::product;
  }
}

kernels::Finish finish_of(ScoreKind kind) {
  switch (kind) {
    case ScoreKind::cosine:
      return kernels::Finish::by_key;
    case ScoreKind::gated:
      return kernels::Finish::gate;
    case ScoreKind::rbf:
      return kernels::Finish::by_row;
    case ScoreKind::distance:
      return kernels::Finish::root_by_row;
    default:
      return kernels::Finish::nothing;
  }
}

kernels::Normalizer normalizer_of(Normalizer normalizer) {
  switch (normalizer) {
    case Normalizer::sparsemax:
      return kernels::Normalizer::sparsemax;
    case Normalizer::sigmoid:
      return kernels::Normalizer::sigmoid;
    case Normalizer::none:
      return kernels::Normalizer::identity;
    case Normalizer::softmax:
    case Normalizer::hard:  // of one key
      break;
  }
  return kernels::Normalizer::softmax;
}

/// What a query is multiplied with, and its number for Finish.
void describe_score(const AttentionProblem& problem, Index batch, Index head, Index query, kernels::AttentionRow& row) {
  const Index head_of_whole = problem.whole.first_head + head;
  const ScoreFunction& score = problem.options.score;
  const float factor = problem.scale * raw_units(problem);
  const float* const prepared = problem.prepared.queries;
  const Index index = (batch * problem.query_heads + head) * problem.query_length + query;
  row.query_factor = factor;
  switch (score.kind) {
    case ScoreKind::cosine:
      row.query_factor = factor * prepared[index];
      return;
    case ScoreKind::gated:
      row.score_number = prepared[index];
      return;
    case ScoreKind::additive:
      row.query_factor = 1.0F;
      return;
    case ScoreKind::rbf: {
      const auto bandwidth =
          static_cast<double>(*score.bandwidth.at(0, score.bandwidth.shape[1] == 1 ? 0 : head_of_whole, 0));
      row.query_factor = 1.0F;
      row.score_number = static_cast<float>(-static_cast<double>(factor) / (2.0 * bandwidth * bandwidth));
      return;
    }
    case ScoreKind::distance:
      row.query_factor = 1.0F;
      row.score_number = -factor;
      return;
    default:
      return;
  }
}

}  // namespace

float score_units(const AttentionProblem& problem) {
  const Normalizer normalizer = problem.options.normalizer;
  return normalizer == Normalizer::softmax || normalizer == Normalizer::sigmoid ? kernels::kLog2E : 1.0F;
}

float raw_units(const AttentionProblem& problem) {
  return problem.options.expressions.have(ProgramOf::score) ? 1.0F : score_units(problem);
}

kernels::AttentionRow describe_query(const AttentionProblem& problem, Index batch, Index head, Index query) {
  const AttentionOptions& options = problem.options;
  const SliceOf& whole = problem.whole;
  const Index head_of_whole = whole.first_head + head;
  const KeyRange keys = visible_keys(problem, batch, query);
  kernels::AttentionRow row{};
  row.query = numbers_at(problem.inputs.query, batch, head, query);
  describe_score(problem, batch, head, query, row);
  row.mask = problem.inputs.mask.at(batch, head, query);
  row.bias = problem.inputs.bias.at(batch, head, query);
  const KeptBlocks& blocks = options.blocks;
  if (blocks.keep.is_present()) {
    row.keep = blocks.keep.at(whole.first_batch + batch, head_of_whole, (whole.first_query + query) / blocks.queries);
  }
  const Index place[] = {whole.first_batch + batch, head_of_whole, whole.first_query + query};
  for (int of = 0; of < 3; ++of) row.place[of] = static_cast<float>(place[of]);
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

kernels::AttentionBlock describe_block(const AttentionProblem& problem, const AttentionPlan& plan, Index batch,
                                       Index group) {
  const AttentionInputs& in = problem.inputs;
  const PreparedNumbers& prepared = problem.prepared;
  const KeptBlocks& blocks = problem.options.blocks;
  const ScoreKind score = problem.options.score.kind;
  const Index number = batch * problem.groups + group;
  return {
      .rows = nullptr,
      .row_count = 0,
      .key = rows_of(in.key, batch, problem.head_of(group, in.key.shape[1])),
      .value = rows_of(in.value, batch, problem.head_of(group, in.value.shape[1])),
      .mask_stride = static_cast<std::ptrdiff_t>(in.mask.strides[3]),
      .bias_stride = static_cast<std::ptrdiff_t>(in.bias.strides[3]),
      .keep_stride = static_cast<std::ptrdiff_t>(blocks.keep.strides[3]),
      .key_length = static_cast<int>(problem.key_length),
      .addend_length = static_cast<int>(problem.key_limit),
      .head_dim = static_cast<int>(problem.head_dim),
      .value_dim = static_cast<int>(problem.value_dim),
      .key_block = plan.key_block,
      .run_keys = plan.run_keys,
      .key_unit = plan.key_unit,
      .keep_keys = blocks.keep.is_present()
                       ? static_cast<int>(std::min(blocks.keys, std::max<Index>(problem.key_length, 1)))
                       : 0,
      .pairing = pairing_of(score),
      .finish = finish_of(score),
      .key_numbers = prepared.keys == nullptr ? nullptr : prepared.keys + number * prepared.key_stride,
      .pair_weights = prepared.pair_weights == nullptr ? nullptr : prepared.pair_weights + group * prepared.pair_stride,
      .normalizer = normalizer_of(problem.options.normalizer),
      .top_k = static_cast<int>(problem.top_k),
      .score_units = score_units(problem),
      .raw_units = raw_units(problem),
      .softcap = problem.softcap,
      .has_alibi = problem.options.alibi_slopes != nullptr,
      .score_stage = static_cast<kernels::ScoreStage>(problem.outputs.score_stage),
      .has_dropout = problem.dropout.is_on,
      .dropout_limit = problem.dropout.limit,
      .dropout_factor = problem.dropout.factor,
      .share = 1.0F,
      .score_mod = nullptr,
      .mask_mod = nullptr,
      .weight_mod = nullptr,
      .by_rules = normalizer_of(problem.options.normalizer),
      .scratch = nullptr,
      .best = nullptr,
      .registers = nullptr,
      .stop = problem.options.stop,
  };
}

}  // namespace heed
