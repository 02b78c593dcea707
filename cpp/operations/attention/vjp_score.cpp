#include "operations/attention/vjp_score.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/rounding.hpp"
#include "kernels/instances/attention.hpp"
#include "kernels/instances/backward.hpp"
#include "operations/common/parallel_for.hpp"
#include "operations/common/view_rows.hpp"

namespace heed {
namespace {

using kernels::FloatRow;
using kernels::KvRow;

ScoreKind kind_of(const VjpJob& job) { return job.forward().options.score.kind; }

int head_dim_of(const VjpJob& job) { return static_cast<int>(job.forward().head_dim); }

bool is_additive(const AttentionProblem& forward) { return forward.options.score.kind == ScoreKind::additive; }

/// Whether the queries, or keys, that are multiplied are made for the call and not the caller's own.
bool are_queries_made(const AttentionProblem& forward) {
  return is_additive(forward) || forward.options.score.kind == ScoreKind::general;
}
bool are_keys_made(const AttentionProblem& forward) {
  return is_additive(forward) || forward.groups != forward.kv_heads;
}
/// Whether several groups have gradients of the same values.
bool are_values_shared(const AttentionProblem& forward) { return forward.groups != forward.kv_heads; }

/// A parameter's numbers, or their gradients, for a query head of the call.
template <typename T>
T* at_head(const AttentionProblem& forward, const TensorView<T>& view, Index head) {
  return view.at(0, view.shape[1] == 1 ? 0 : forward.whole.first_head + head, 0);
}

KvRow f32_row(const float* numbers) { return FloatRow{numbers, DType::f32}; }

/// A row of the caller's queries, or keys.
KvRow query_row(const AttentionProblem& forward, const QueryAt& at) {
  return float_row(forward.inputs.query, at.batch, at.head, at.query);
}
KvRow key_row(const AttentionProblem& forward, Index group, Index key) {
  const FloatView& keys = forward.inputs.key;
  return float_row(keys, group / forward.groups, forward.head_of(group % forward.groups, keys.shape[1]), key);
}

/// The half of a gate's weights that is for queries, or the other, for keys.
const float* gate_weights(const AttentionProblem& forward, Index head, bool of_keys) {
  return at_head(forward, forward.options.score.w, head) + (of_keys ? forward.head_dim : 0);
}

/// The inverse length of a query, or key, as its gradient takes it. A NaN of its own makes every score NaN that is not
/// masked, and so the gradient already; where all are masked it is not read.
float inverse_length(float prepared) { return std::isnan(prepared) ? 0.0F : prepared; }

float inverse_length(const VjpJob& job, const QueryAt& at) {
  const AttentionProblem& forward = job.forward();
  const Index row = (at.batch * forward.query_heads + at.head) * forward.query_length + at.query;
  return inverse_length(job.operands.query_operands[row]);
}

bool is_zero(const float* row, Index dim) {
  return std::ranges::all_of(row, row + dim, [](float number) { return number == 0.0F; });
}

/// Adds the product of a column `a` and a row `b` to a matrix.
void add_outer(KvRow a, Index rows, KvRow b, Index columns, float* matrix) {
  std::array<float, kernels::kPanel> some;
  for (Index first = 0; first < rows; first += kernels::kPanel) {
    const Index count = std::min<Index>(kernels::kPanel, rows - first);
    some.fill(0.0F);
    const FloatRow from = FloatRow{a.data, a.dtype}.from(static_cast<std::ptrdiff_t>(first));
    kernels::add_row(from, 1.0F, static_cast<int>(count), some.data());
    for (Index r = 0; r < count; ++r) {
      kernels::add_row(b, some[static_cast<std::size_t>(r)], static_cast<int>(columns), matrix + (first + r) * columns);
    }
  }
}

/// The rows of a head of the call, in order, and where their row_sums begin.
template <typename Visit>
void for_each_query(const VjpJob& job, Index head, Visit visit) {
  const AttentionProblem& forward = job.forward();
  const Index heads = forward.heads_per_group();
  for (Index b = 0; b < forward.batch; ++b) {
    const Index group = b * forward.groups + head / heads;
    for (Index i = 0; i < forward.query_length; ++i) {
      const Index row = head % heads * forward.query_length + i;
      visit(QueryAt{b, head, i}, job.row_index(group, row) * kernels::kSumLines);
    }
  }
}

/// The keys of a group of any batch entry.
template <typename Visit>
void for_each_key(const VjpJob& job, Index group, Visit visit) {
  const AttentionProblem& forward = job.forward();
  for (Index b = 0; b < forward.batch; ++b) {
    for (Index j = 0; j < forward.key_length; ++j) visit(b * forward.groups + group, j);
  }
}

/// A part of a parameter: so many numbers a head from one on.
struct ParameterPart {
  const TensorView<float>& gradient;
  Index first;
  Index count;
};

/// Adds what a query head, or a group, has of a part of a parameter.
using Sum = void (*)(const VjpJob& job, Index head, float* sum);

/// Sums a part for each of `heads`, query heads or groups, and adds these in order where they share a parameter.
void sum_parameter(const VjpJob& job, Executor& executor, const ParameterPart& part, Index heads, Sum sum) {
  if (!part.gradient.is_present()) return;
  float* const partials = job.parameter_partials;
  const Tasks tasks{heads, job.plan.workers, job.forward().options.stop};
  parallel_for(executor, tasks, [&](Index head, int) {
    std::fill_n(partials + head * part.count, part.count, 0.0F);
    sum(job, head, partials + head * part.count);
  });
  const Index columns = part.gradient.shape[3];
  for (Index head = 0; head < heads; ++head) {
    float* const target = at_head(job.forward(), part.gradient, head);
    for (Index i = 0; i < part.count; ++i) {
      const Index at = part.first + i;
      target[at / columns * part.gradient.strides[2] + at % columns] += partials[head * part.count + i];
    }
  }
}

void sum_gate(const VjpJob& job, Executor& executor) {
  const AttentionProblem& forward = job.forward();
  const ScoreGradients& gradients = job.problem.gradients.score;
  const Index dim = forward.head_dim;
  sum_parameter(job, executor, {gradients.w, 0, dim}, forward.query_heads,
                [](const VjpJob& from, Index head, float* sum) {
                  for_each_query(from, head, [&](const QueryAt& at, Index line) {
                    kernels::add_row(query_row(from.forward(), at), from.row_sums[line], head_dim_of(from), sum);
                  });
                });
  sum_parameter(job, executor, {gradients.w, dim, dim}, forward.groups,
                [](const VjpJob& from, Index group, float* sum) {
                  for_each_key(from, group, [&](Index of_batch, Index key) {
                    const float of_key = from.key_sums[of_batch * from.forward().key_length + key];
                    kernels::add_row(key_row(from.forward(), of_batch, key), of_key, head_dim_of(from), sum);
                  });
                });
  sum_parameter(job, executor, {gradients.b, 0, 1}, forward.query_heads,
                [](const VjpJob& from, Index head, float* sum) {
                  for_each_query(from, head, [&](const QueryAt&, Index line) { *sum += from.row_sums[line]; });
                });
}

/// The bandwidth divides twice what scales the scores.
void sum_bandwidth(const VjpJob& job, Executor& executor) {
  sum_parameter(job, executor, {job.problem.gradients.score.bandwidth, 0, 1}, job.forward().query_heads,
                [](const VjpJob& from, Index head, float* sum) {
                  double products = 0.0;
                  for_each_query(from, head, [&](const QueryAt&, Index line) {
                    products += static_cast<double>(from.row_sums[line + 1]);
                  });
                  const float bandwidth = *at_head(from.forward(), from.forward().options.score.bandwidth, head);
                  *sum = static_cast<float>(-2.0 * products / static_cast<double>(bandwidth));
                });
}

KvRow of_query(const VjpJob& job, const QueryAt& at) {
  return f32_row(job.query_gradient.at(at.batch, at.head, at.query));
}

void sum_general(const VjpJob& job, Executor& executor) {
  const AttentionInputs& inputs = job.forward().inputs;
  const Index numbers = inputs.query.shape[3] * inputs.key.shape[3];
  sum_parameter(job, executor, {job.problem.gradients.score.w, 0, numbers}, job.forward().query_heads,
                [](const VjpJob& from, Index head, float* sum) {
                  const AttentionProblem& forward = from.forward();
                  const Index columns = forward.inputs.key.shape[3];
                  for_each_query(from, head, [&](const QueryAt& at, Index) {
                    // A query without a key is not read, NaN or not.
                    if (is_zero(from.query_gradient.at(at.batch, at.head, at.query), columns)) return;
                    add_outer(query_row(forward, at), forward.inputs.query.shape[3], of_query(from, at), columns, sum);
                  });
                });
}

void sum_additive(const VjpJob& job, Executor& executor) {
  const AttentionProblem& forward = job.forward();
  const ScoreGradients& gradients = job.problem.gradients.score;
  const Index hidden = forward.head_dim;
  const AttentionInputs& inputs = forward.inputs;
  sum_parameter(job, executor, {gradients.wq, 0, hidden * inputs.query.shape[3]}, forward.query_heads,
                [](const VjpJob& from, Index head, float* sum) {
                  const AttentionProblem& of = from.forward();
                  for_each_query(from, head, [&](const QueryAt& at, Index) {
                    add_outer(of_query(from, at), of.head_dim, query_row(of, at), of.inputs.query.shape[3], sum);
                  });
                });
  sum_parameter(job, executor, {gradients.b, 0, hidden}, forward.query_heads,
                [](const VjpJob& from, Index head, float* sum) {
                  for_each_query(from, head, [&](const QueryAt& at, Index) {
                    kernels::add_row(of_query(from, at), 1.0F, head_dim_of(from), sum);
                  });
                });
  sum_parameter(job, executor, {gradients.wk, 0, hidden * inputs.key.shape[3]}, forward.groups,
                [](const VjpJob& from, Index group, float* sum) {
                  const AttentionProblem& of = from.forward();
                  for_each_key(from, group, [&](Index of_batch, Index key) {
                    const float* const gradient = from.key_gradient.at(of_batch / of.groups, of_batch % of.groups, key);
                    add_outer(f32_row(gradient), of.head_dim, key_row(of, of_batch, key), of.inputs.key.shape[3], sum);
                  });
                });
  sum_parameter(job, executor, {gradients.v, 0, hidden}, forward.groups,
                [](const VjpJob& from, Index group, float* sum) {
                  const AttentionProblem& of = from.forward();
                  const Index splits = from.plan.splits_per_group;
                  for (Index b = 0; b < of.batch; ++b) {
                    const float* const partials = from.pair_partials + (b * of.groups + group) * splits * of.head_dim;
                    for (Index split = 0; split < splits; ++split) {
                      kernels::add_row(f32_row(partials + split * of.head_dim), 1.0F, head_dim_of(from), sum);
                    }
                  }
                });
}

/// A projection of operands' gradients back to what was projected: by the matrix of `head`, the other way round.
struct BackProjection {
  const TensorView<const float>& matrix;  // absent: the identity
  bool is_transposed;
  Index head;
  Index source_dim;
  Index target_dim;
};

void project_back(const VjpJob& job, const BackProjection& projection, const kernels::SourceRow* rows, int count,
                  float* scratch) {
  const AttentionProblem& forward = job.forward();
  if (!projection.matrix.is_present()) {
    for (int i = 0; i < count; ++i) {
      std::fill_n(rows[i].target, projection.target_dim, 0.0F);
      kernels::add_row(rows[i].source, 1.0F, static_cast<int>(projection.target_dim), rows[i].target);
    }
    return;
  }
  kernels::project({.rows = rows,
                    .row_count = count,
                    .source_dim = static_cast<int>(projection.source_dim),
                    .target_dim = static_cast<int>(projection.target_dim),
                    .matrix = at_head(forward, projection.matrix, projection.head),
                    .matrix_stride = static_cast<std::ptrdiff_t>(projection.matrix.strides[2]),
                    .is_transposed = projection.is_transposed,
                    .offset = nullptr,
                    .scratch = scratch});
}

using SourceRows = std::array<kernels::SourceRow, kMaxRowsPerTask>;

/// Queries [first, first + kMaxRowsPerTask) of a head, numbered over all batch entries.
void write_made_queries(const VjpJob& job, Index number, Index first, float* scratch) {
  const AttentionProblem& forward = job.forward();
  const ScoreFunction& score = forward.options.score;
  const Index batch = number / forward.query_heads;
  const Index head = number % forward.query_heads;
  const Index count = std::min(kMaxRowsPerTask, forward.query_length - first);
  SourceRows rows;
  for (Index i = 0; i < count; ++i) {
    rows[static_cast<std::size_t>(i)] = {of_query(job, {batch, head, first + i}),
                                         job.problem.gradients.query.at(batch, head, first + i)};
  }
  const bool is_general = score.kind == ScoreKind::general;
  project_back(job,
               {.matrix = is_general ? score.w : score.wq,
                .is_transposed = !is_general,
                .head = head,
                .source_dim = forward.head_dim,
                .target_dim = forward.inputs.query.shape[3]},
               rows.data(), static_cast<int>(count), scratch);
}

/// Gradients that the groups of a KV head have made, and the keys or values that they are of.
struct MadeRows {
  const TensorView<float>& made;
  const TensorView<float>& target;
  const TensorView<const float>& matrix;  // which the keys were projected by; absent: none
};

/// Sums keys, or values, [first, first + kMaxRowsPerTask) of a KV head, numbered over all batch entries, over its
/// groups.
void sum_groups(const VjpJob& job, const MadeRows& from, Index number, Index first, float* scratch) {
  const AttentionProblem& forward = job.forward();
  const Index batch = number / forward.kv_heads;
  const Index kv_head = number % forward.kv_heads;
  const Index groups = forward.groups / forward.kv_heads;
  const Index count = std::min(kMaxRowsPerTask, forward.key_length - first);
  const Index dim = from.target.shape[3];
  float* const projected = scratch;  // a group's
  SourceRows rows;
  for (Index group = kv_head * groups; group < (kv_head + 1) * groups; ++group) {
    for (Index j = 0; j < count; ++j) {
      rows[static_cast<std::size_t>(j)] = {f32_row(from.made.at(batch, group, first + j)), projected + j * dim};
    }
    project_back(job,
                 {.matrix = from.matrix,
                  .is_transposed = true,
                  .head = group,
                  .source_dim = from.made.shape[3],
                  .target_dim = dim},
                 rows.data(), static_cast<int>(count), scratch + round_up(kMaxRowsPerTask * dim, kernels::kPanel));
    for (Index j = 0; j < count; ++j) {
      float* const target = from.target.at(batch, kv_head, first + j);
      if (group == kv_head * groups) std::fill_n(target, dim, 0.0F);
      kernels::add_row(f32_row(projected + j * dim), 1.0F, static_cast<int>(dim), target);
    }
  }
}

Index largest_parameter(const AttentionProblem& forward) {
  Index largest = 0;
  const ScoreFunction& score = forward.options.score;
  for (const TensorView<const float>* view : {&score.w, &score.wq, &score.wk, &score.b, &score.v, &score.bandwidth}) {
    if (view->is_present()) largest = std::max(largest, view->shape[2] * view->shape[3]);
  }
  return largest;
}

/// Keys are projected into memory of their own first.
Index projection_floats_of(const AttentionProblem& forward) {
  if (!are_queries_made(forward) && !are_keys_made(forward)) return 0;
  const Index dim = std::max({forward.inputs.query.shape[3], forward.inputs.key.shape[3], forward.value_dim});
  return round_up(kMaxRowsPerTask * dim, kernels::kPanel) +
         kernels::projection_scratch_floats(kernels::kPanel, forward.head_dim, dim);
}

bool has_sums(const AttentionProblem& forward) { return sum_lines(forward) > 0; }

}  // namespace

Index sum_lines(const AttentionProblem& forward) {
  switch (forward.options.score.kind) {
    case ScoreKind::additive:
    case ScoreKind::gated:
    case ScoreKind::rbf:
    case ScoreKind::distance:
      return kernels::kSumLines;
    default:
      return 0;
  }
}

float gradient_factor(const VjpJob& job, const QueryAt& at) {
  const AttentionProblem& forward = job.forward();
  if (kind_of(job) == ScoreKind::cosine) {
    return forward.scale * inverse_length(job, at);
  }
  const bool is_difference = kind_of(job) == ScoreKind::rbf || kind_of(job) == ScoreKind::distance;
  return is_difference || is_additive(forward) ? 1.0F : forward.scale;
}

void finish_query(const VjpJob& job, const QueryAt& at, kernels::QueryGradientRow& row) {
  const AttentionProblem& forward = job.forward();
  const auto dim = static_cast<int>(forward.head_dim);
  const bool is_wanted = row.gradient != nullptr;
  switch (kind_of(job)) {
    case ScoreKind::cosine: {
      // Along the query itself the cosine does not change.
      const float inverse = inverse_length(job, at);
      if (is_wanted) kernels::add_row(row.query, -row.product * inverse * inverse, dim, row.gradient);
      return;
    }
    case ScoreKind::gated:
      if (is_wanted) kernels::add_row(f32_row(gate_weights(forward, at.head, false)), row.sums[0], dim, row.gradient);
      break;
    case ScoreKind::rbf:
    case ScoreKind::distance:
    case ScoreKind::additive:
      break;
    default:
      return;
  }
  row.product = row.sums[1];
}

void finish_key(const VjpJob& job, Index group, Index key, float* gradient) {
  const AttentionProblem& forward = job.forward();
  const auto dim = static_cast<int>(forward.head_dim);
  switch (kind_of(job)) {
    case ScoreKind::cosine: {
      const float inverse = inverse_length(job.operands.key_operands[group * job.operands.key_stride + key]);
      const float product = kernels::dot_rows(key_row(forward, group, key), f32_row(gradient), dim);
      kernels::add_row(key_row(forward, group, key), -product * inverse * inverse, dim, gradient);
      return;
    }
    case ScoreKind::gated: {
      const Index head = group % forward.groups * forward.heads_per_group();
      kernels::add_row(f32_row(gate_weights(forward, head, true)), job.key_sums[group * forward.key_length + key], dim,
                       gradient);
      return;
    }
    default:
      return;
  }
}

ScoreBackward::ScoreBackward(const AttentionVjpProblem& problem, const AttentionVjpPlan& plan, Executor& executor)
    : executor_(executor),
      parameter_floats_(largest_parameter(problem.forward)),
      projection_floats_(projection_floats_of(problem.forward)),
      query_(are_queries_made(problem.forward) ? problem.forward.batch * problem.forward.query_heads *
                                                     problem.forward.query_length * problem.forward.head_dim
                                               : 0),
      key_(are_keys_made(problem.forward)
               ? problem.forward.batch * problem.forward.groups * problem.forward.key_length * problem.forward.head_dim
               : 0),
      value_(are_values_shared(problem.forward) ? problem.forward.batch * problem.forward.groups *
                                                      problem.forward.key_length * problem.forward.value_dim
                                                : 0),
      row_sums_(has_sums(problem.forward)
                    ? problem.forward.batch * problem.forward.groups * plan.rows_per_group * kernels::kSumLines
                    : 0),
      key_sums_(problem.forward.options.score.kind == ScoreKind::gated
                    ? problem.forward.batch * problem.forward.groups * problem.forward.key_length
                    : 0),
      pair_partials_(is_additive(problem.forward) ? problem.forward.batch * problem.forward.groups *
                                                        plan.splits_per_group * problem.forward.head_dim
                                                  : 0),
      partials_(parameter_floats_ * problem.forward.query_heads),
      projections_(projection_floats_ * plan.workers) {}

Index ScoreBackward::missing_floats() const {
  Index floats = 0;
  bool is_available = true;
  for (const Scratch* memory :
       {&query_, &key_, &value_, &row_sums_, &key_sums_, &pair_partials_, &partials_, &projections_}) {
    floats += memory->floats();
    is_available = is_available && memory->is_available();
  }
  return is_available ? 0 : floats;
}

void ScoreBackward::prepare(VjpJob& job) const {
  const AttentionProblem& forward = job.forward();
  const AttentionGradients& gradients = job.problem.gradients;
  const Shape of_queries{forward.batch, forward.query_heads, forward.query_length, forward.head_dim};
  const Shape of_keys{forward.batch, forward.groups, forward.key_length, forward.head_dim};
  job.query_gradient = are_queries_made(forward) ? bhnd_view(query_.data(), of_queries) : gradients.query;
  job.key_gradient = are_keys_made(forward) ? bhnd_view(key_.data(), of_keys) : gradients.key;
  const Shape of_values{forward.batch, forward.groups, forward.key_length, forward.value_dim};
  job.value_gradient = are_values_shared(forward) ? bhnd_view(value_.data(), of_values) : gradients.value;
  job.row_sums = row_sums_.data();
  job.key_sums = key_sums_.data();
  job.pair_partials = pair_partials_.data();
  job.parameter_partials = partials_.data();
}

void ScoreBackward::run(const VjpJob& job) const {
  const AttentionProblem& forward = job.forward();
  const StopFlag* const stop = forward.options.stop;
  const auto for_each_rows = [&](Index heads, Index length, auto write) {
    const Index per_head = divide_up(length, kMaxRowsPerTask);
    parallel_for(executor_, {heads * per_head, job.plan.workers, stop}, [&](Index task, int worker) {
      write(task / per_head, task % per_head * kMaxRowsPerTask, projections_.data() + worker * projection_floats_);
    });
  };
  const auto sum = [&](const MadeRows& rows) {
    if (!rows.target.is_present()) return;
    for_each_rows(forward.batch * forward.kv_heads, forward.key_length,
                  [&](Index head, Index first, float* scratch) { sum_groups(job, rows, head, first, scratch); });
  };
  const AttentionGradients& gradients = job.problem.gradients;
  if (are_queries_made(forward) && gradients.query.is_present()) {
    for_each_rows(forward.batch * forward.query_heads, forward.query_length,
                  [&](Index head, Index first, float* scratch) { write_made_queries(job, head, first, scratch); });
  }
  if (are_keys_made(forward)) sum({job.key_gradient, gradients.key, forward.options.score.wk});
  if (are_values_shared(forward)) sum({job.value_gradient, gradients.value, {}});
  switch (forward.options.score.kind) {
    case ScoreKind::general:
      sum_general(job, executor_);
      break;
    case ScoreKind::additive:
      sum_additive(job, executor_);
      break;
    case ScoreKind::gated:
      sum_gate(job, executor_);
      break;
    case ScoreKind::rbf:
      sum_bandwidth(job, executor_);
      break;
    default:
      break;
  }
}

}  // namespace heed
