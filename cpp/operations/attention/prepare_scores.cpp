#include "operations/attention/prepare_scores.hpp"

#include <algorithm>
#include <array>

#include "heed/rounding.hpp"
#include "kernels/instances/attention.hpp"
#include "operations/attention/describe.hpp"
#include "operations/common/parallel_for.hpp"

namespace heed {
namespace {

using kernels::SourceRow;

/// Prepares the keys of every group, one after the other.
Preparation of_keys(const AttentionProblem& problem) {
  Preparation keys;
  keys.source = problem.inputs.key;
  keys.heads = problem.groups;
  keys.first_head = problem.whole.first_head;
  keys.target_dim = 1;
  // Operands are read by whole panels, from any key on.
  keys.head_stride = round_up(problem.key_length, kernels::kPanel) + kernels::kPanel;
  return keys;
}

Preparation of_queries(const AttentionProblem& problem) {
  Preparation queries;
  queries.source = problem.inputs.query;
  queries.heads = problem.query_heads;
  queries.first_head = problem.whole.first_head;
  queries.target_dim = 1;
  queries.head_stride = problem.query_length;
  return queries;
}

/// Some columns of a one-row matrix.
TensorView<const float> columns(TensorView<const float> view, Index first, Index count) {
  view.data += first;
  view.shape[3] = count;
  return view;
}

/// Makes operands that are vectors.
void project(Preparation& preparation, const TensorView<const float>& matrix, Index target_dim) {
  preparation.matrix = matrix;
  preparation.target_dim = target_dim;
  preparation.head_stride = preparation.source.shape[2] * target_dim;
}

Preparation plan_queries(const AttentionProblem& problem) {
  const ScoreFunction& score = problem.options.score;
  Preparation queries = of_queries(problem);
  switch (score.kind) {
    case ScoreKind::cosine:
      queries.inverts_lengths = true;
      return queries;
    case ScoreKind::general:
      project(queries, score.w, problem.inputs.key.shape[3]);
      queries.is_transposed = true;
      return queries;
    case ScoreKind::additive:
      if (!score.wq.is_present() && !score.b.is_present()) return {};
      project(queries, score.wq, problem.head_dim);
      queries.offset = score.b;
      return queries;
    case ScoreKind::gated:
      queries.matrix = columns(score.w, 0, problem.inputs.query.shape[3]);
      queries.offset = score.b;
      return queries;
    default:
      return {};
  }
}

Preparation plan_keys(const AttentionProblem& problem) {
  const ScoreFunction& score = problem.options.score;
  Preparation keys = of_keys(problem);
  switch (score.kind) {
    case ScoreKind::cosine:
      keys.inverts_lengths = true;
      return keys;
    case ScoreKind::additive:
      if (!score.wk.is_present()) return {};
      project(keys, score.wk, problem.head_dim);
      return keys;
    case ScoreKind::gated:
      keys.matrix = columns(score.w, problem.inputs.query.shape[3], problem.inputs.key.shape[3]);
      return keys;
    default:
      return {};
  }
}

/// A parameter's numbers for a query head of the whole; null: not given.
const float* at_head(const TensorView<const float>& view, Index head) {
  return view.is_present() ? view.at(0, view.shape[1] == 1 ? 0 : head, 0) : nullptr;
}

Index projection_floats(const Preparation& preparation) {
  if (!preparation.source.is_present()) return 0;
  return kernels::projection_scratch_floats(kernels::kPanel, preparation.source.shape[3], preparation.target_dim);
}

double multiplications(const Preparation& preparation) {
  if (!preparation.source.is_present()) return 0.0;
  return static_cast<double>(preparation.floats()) * static_cast<double>(preparation.source.shape[3]);
}

/// Makes rows [first, first + count) of one head, which is the `number`th of all.
void make_rows(const Preparation& preparation, Index number, Index first, float* made, float* scratch) {
  const FloatView& source = preparation.source;
  const Index batch = number / preparation.heads;
  const Index head = number % preparation.heads;
  const Index count = std::min<Index>(kernels::kMaxRows, source.shape[2] - first);

  std::array<SourceRow, kernels::kMaxRows> rows;
  float* const target = made + number * preparation.head_stride;
  const kernels::KvRows sources = rows_of(source, batch, head / (preparation.heads / source.shape[1]));
  for (Index i = 0; i < count; ++i) {
    rows[static_cast<std::size_t>(i)] = {kernels::row_of(sources, static_cast<int>(first + i)),
                                         target + (first + i) * preparation.target_dim};
  }
  if (preparation.inverts_lengths) {
    kernels::invert_lengths(rows.data(), static_cast<int>(count), static_cast<int>(source.shape[3]));
    return;
  }
  kernels::project({.rows = rows.data(),
                    .row_count = static_cast<int>(count),
                    .source_dim = static_cast<int>(source.shape[3]),
                    .target_dim = static_cast<int>(preparation.target_dim),
                    .matrix = at_head(preparation.matrix, preparation.first_head + head),
                    .matrix_stride = static_cast<std::ptrdiff_t>(preparation.matrix.strides[2]),
                    .is_transposed = preparation.is_transposed,
                    .offset = at_head(preparation.offset, preparation.first_head + head),
                    .scratch = scratch});
}

/// Writes pair weights times the scale of the scores, then zeros: they are read by whole vectors.
void scale_weights(const TensorView<const float>& v, float scale, Index dim, Index head, float* target) {
  const float* const weights = at_head(v, head);
  const Index room = round_up(dim, kernels::kLanes);
  for (Index d = 0; d < room; ++d) target[d] = d < dim ? (weights == nullptr ? 1.0F : weights[d]) * scale : 0.0F;
}

FloatView made_view(const Preparation& preparation, const float* numbers) {
  const Shape& shape = preparation.source.shape;
  return bhnd_view(numbers, {shape[0], preparation.heads, shape[2], preparation.target_dim});
}

/// The number of sets of pair weights: one, or one for each query head, which then are the groups.
Index pair_heads(const AttentionProblem& problem) {
  const TensorView<const float>& v = problem.options.score.v;
  return v.is_present() && v.shape[1] > 1 ? problem.query_heads : 1;
}

}  // namespace

ScorePreparation::ScorePreparation(const AttentionProblem& problem, Executor& executor)
    : executor_(executor),
      query_(plan_queries(problem)),
      key_(plan_keys(problem)),
      pair_dim_(problem.options.score.kind == ScoreKind::additive ? problem.head_dim : 0),
      workers_(choose_workers(executor, multiplications(query_) + multiplications(key_))),
      scratch_per_worker_(std::max(projection_floats(query_), projection_floats(key_))),
      query_memory_(query_.floats()),
      key_memory_(key_.floats()),
      pair_memory_(pair_heads(problem) * round_up(pair_dim_, kernels::kLanes)),
      scratch_(scratch_per_worker_ * workers_) {}

Index ScorePreparation::missing_floats() const {
  return heed::missing_floats({&query_memory_, &key_memory_, &pair_memory_, &scratch_});
}

void ScorePreparation::make(const Preparation& preparation, float* target, const StopFlag* stop) {
  const Shape& shape = preparation.source.shape;
  if (!preparation.source.is_present() || shape[0] * shape[2] == 0) return;
  const Index per_head = divide_up(shape[2], kernels::kMaxRows);
  const Tasks tasks{shape[0] * preparation.heads * per_head, workers_, stop};
  parallel_for(executor_, tasks, [&](Index task, int worker) {
    make_rows(preparation, task / per_head, task % per_head * kernels::kMaxRows, target,
              scratch_.data() + worker * scratch_per_worker_);
  });
}

ScoreOperands ScorePreparation::run(const AttentionProblem& problem) {
  ScoreOperands operands{problem.inputs};
  make(query_, query_memory_.data(), problem.options.stop);
  make(key_, key_memory_.data(), problem.options.stop);
  switch (problem.options.score.kind) {
    case ScoreKind::cosine:
    case ScoreKind::gated:
      operands.query_operands = query_memory_.data();
      operands.key_operands = key_memory_.data();
      operands.key_stride = key_.head_stride;
      return operands;
    case ScoreKind::general:
    case ScoreKind::additive:
      if (query_.source.is_present()) operands.query = made_view(query_, query_memory_.data());
      if (key_.source.is_present()) operands.key = made_view(key_, key_memory_.data());
      break;
    default:
      return operands;
  }
  if (pair_dim_ == 0) return operands;
  operands.pair_weights = pair_memory_.data();
  const Index room = round_up(pair_dim_, kernels::kLanes);
  if (pair_heads(problem) > 1) operands.pair_stride = room;
  for (Index head = 0; head < pair_heads(problem); ++head) {
    scale_weights(problem.options.score.v, problem.scale * raw_scale(problem), pair_dim_,
                  problem.whole.first_head + head, pair_memory_.data() + head * room);
  }
  return operands;
}

}  // namespace heed
