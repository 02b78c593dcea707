#include "ops/prepare_scores.hpp"

#include <algorithm>
#include <array>

#include "ops/describe.hpp"

namespace heed {
namespace {

using kernels::SourceRow;

/// Numbers of keys are read by whole panels.
constexpr Index kLongestPanel = 32;
/// Pair weights are read by whole vectors.
constexpr Index kLongestVector = 16;

/// The keys of every group, one after the other.
Preparation of_keys(const AttentionProblem& problem) {
  Preparation keys;
  keys.source = problem.inputs.key;
  keys.heads = problem.groups;
  keys.first_head = problem.whole.first_head;
  keys.target_dim = 1;
  // A panel may be read from any key on.
  keys.head_stride = kernels::round_up_to(problem.key_length, kLongestPanel) + kLongestPanel;
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

/// `count` columns of a one-row matrix.
TensorView<const float> columns(TensorView<const float> view, Index first, Index count) {
  view.data += first;
  view.shape[3] = count;
  return view;
}

/// Vectors instead of numbers.
void project(Preparation& preparation, const TensorView<const float>& matrix, Index target_dim) {
  preparation.matrix = matrix;
  preparation.target_dim = target_dim;
  preparation.head_stride = preparation.source.shape[2] * target_dim;
}

/// What queries and keys have in common where matrices make it.
Index hidden_dim(const AttentionProblem& problem) {
  const ScoreFunction& score = problem.options.score;
  return score.wq.is_present() ? score.wq.shape[2] : problem.inputs.query.shape[3];
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
      project(queries, score.wq, hidden_dim(problem));
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
      project(keys, score.wk, hidden_dim(problem));
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

Index projection_floats(const Preparation& preparation, int panel) {
  if (!preparation.source.is_present()) return 0;
  return kernels::projection_scratch_floats(panel, preparation.source.shape[3], preparation.target_dim);
}

double multiplications(const Preparation& preparation) {
  if (!preparation.source.is_present()) return 0.0;
  return static_cast<double>(preparation.floats()) * static_cast<double>(preparation.source.shape[3]);
}

int choose_workers(double work, const Executor& executor) {
  const int workers = executor.worker_count();
  if (workers <= 1 || executor.work_per_worker() <= 0.0) return workers;
  return static_cast<int>(std::clamp(work / executor.work_per_worker(), 1.0, static_cast<double>(workers)));
}

/// One preparation on its way.
struct Making {
  const Preparation& preparation;
  const kernels::AttentionKernels& kernels;
  float* target;
  float* scratch;
  Index scratch_per_worker;
  Index runs_per_head;
};

/// A run of rows of one head.
void make_rows(void* context, Index task, int worker) {
  const Making& making = *static_cast<Making*>(context);
  const Preparation& preparation = making.preparation;
  const FloatView& source = preparation.source;
  const Index number = task / making.runs_per_head;
  const Index batch = number / preparation.heads;
  const Index head = number % preparation.heads;
  const Index first = task % making.runs_per_head * kernels::kMaxRows;
  const Index count = std::min<Index>(kernels::kMaxRows, source.shape[2] - first);

  std::array<SourceRow, kernels::kMaxRows> rows;
  float* const target = making.target + number * preparation.head_stride;
  const kernels::HeadRows sources = rows_of(source, batch, head / (preparation.heads / source.shape[1]));
  for (Index i = 0; i < count; ++i) {
    rows[static_cast<std::size_t>(i)] = {kernels::row_of(sources, static_cast<int>(first + i)),
                                         target + (first + i) * preparation.target_dim};
  }
  if (preparation.inverts_lengths) {
    making.kernels.invert_lengths(rows.data(), static_cast<int>(count), static_cast<int>(source.shape[3]));
    return;
  }
  making.kernels.project({.rows = rows.data(),
                          .row_count = static_cast<int>(count),
                          .source_dim = static_cast<int>(source.shape[3]),
                          .target_dim = static_cast<int>(preparation.target_dim),
                          .matrix = at_head(preparation.matrix, preparation.first_head + head),
                          .matrix_stride = static_cast<std::ptrdiff_t>(preparation.matrix.strides[2]),
                          .is_transposed = preparation.is_transposed,
                          .offset = at_head(preparation.offset, preparation.first_head + head),
                          .scratch = making.scratch + worker * making.scratch_per_worker});
}

/// The weights of the pairs times what multiplies the scores, then zeros: they are read by whole vectors.
void scale_weights(const TensorView<const float>& v, float scale, Index dim, Index head, float* target) {
  const float* const weights = at_head(v, head);
  const Index room = kernels::round_up_to(dim, kLongestVector);
  for (Index d = 0; d < room; ++d) target[d] = d < dim ? (weights == nullptr ? 1.0F : weights[d]) * scale : 0.0F;
}

FloatView made_view(const Preparation& preparation, const float* numbers) {
  const Shape& shape = preparation.source.shape;
  return bhnd_view(numbers, {shape[0], preparation.heads, shape[2], preparation.target_dim});
}

/// Sets of pair weights: one, or one for each query head, which then are the groups.
Index pair_heads(const AttentionProblem& problem) {
  const TensorView<const float>& v = problem.options.score.v;
  return v.is_present() && v.shape[1] > 1 ? problem.query_heads : 1;
}

}  // namespace

ScorePreparation::ScorePreparation(const AttentionProblem& problem, const kernels::AttentionKernels& kernels,
                                   Executor& executor)
    : kernels_(kernels),
      executor_(executor),
      query_(plan_queries(problem)),
      key_(plan_keys(problem)),
      pair_dim_(problem.options.score.kind == ScoreKind::additive ? hidden_dim(problem) : 0),
      workers_(choose_workers(multiplications(query_) + multiplications(key_), executor)),
      scratch_per_worker_(std::max(projection_floats(query_, kernels.panel), projection_floats(key_, kernels.panel))),
      query_memory_(query_.floats()),
      key_memory_(key_.floats()),
      pair_memory_(pair_heads(problem) * kernels::round_up_to(pair_dim_, kLongestVector)),
      scratch_(scratch_per_worker_ * workers_) {}

Index ScorePreparation::missing_floats() const {
  Index floats = 0;
  bool is_available = true;
  for (const Scratch* memory : {&query_memory_, &key_memory_, &pair_memory_, &scratch_}) {
    floats += memory->floats();
    is_available = is_available && memory->is_available();
  }
  return is_available ? 0 : floats;
}

void ScorePreparation::make(const Preparation& preparation, float* target, const StopFlag* stop) {
  const Shape& shape = preparation.source.shape;
  if (!preparation.source.is_present() || shape[0] * shape[2] == 0) return;
  Making making{preparation,
                kernels_,
                target,
                scratch_.data(),
                scratch_per_worker_,
                (shape[2] + kernels::kMaxRows - 1) / kernels::kMaxRows};
  executor_.run({make_rows, &making, shape[0] * preparation.heads * making.runs_per_head, workers_, stop});
}

void ScorePreparation::run(AttentionProblem& problem) {
  PreparedNumbers& prepared = problem.prepared;
  make(query_, query_memory_.data(), problem.options.stop);
  make(key_, key_memory_.data(), problem.options.stop);
  switch (problem.options.score.kind) {
    case ScoreKind::cosine:
    case ScoreKind::gated:
      prepared.queries = query_memory_.data();
      prepared.keys = key_memory_.data();
      prepared.key_stride = key_.head_stride;
      return;
    case ScoreKind::general:
    case ScoreKind::additive:
      if (query_.source.is_present()) problem.inputs.query = made_view(query_, query_memory_.data());
      if (key_.source.is_present()) problem.inputs.key = made_view(key_, key_memory_.data());
      break;
    default:
      return;
  }
  if (pair_dim_ == 0) return;
  problem.head_dim = pair_dim_;
  prepared.pair_weights = pair_memory_.data();
  const Index room = kernels::round_up_to(pair_dim_, kLongestVector);
  if (pair_heads(problem) > 1) prepared.pair_stride = room;
  for (Index head = 0; head < pair_heads(problem); ++head) {
    scale_weights(problem.options.score.v, problem.scale * raw_units(problem), pair_dim_,
                  problem.whole.first_head + head, pair_memory_.data() + head * room);
  }
}

}  // namespace heed
