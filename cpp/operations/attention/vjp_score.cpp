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

using ReadView = TensorView<const float>;

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

kernels::FloatRow f32_row(const float* numbers) { return {numbers, DType::f32}; }

/// The inverse length of a query, or key, as its gradient takes it. A NaN of its own makes every score NaN that is not
/// masked, and so the gradient already; where all are masked it is not read.
float inverse_length(float prepared) { return std::isnan(prepared) ? 0.0F : prepared; }

float inverse_length(const VjpJob& job, const QueryAt& at) {
  return inverse_length(job.operands.query_operands[row_index(job.forward(), at)]);
}

Index floats_of(const Shape& shape) { return shape[0] * shape[1] * shape[2] * shape[3]; }

/// Of `dim` numbers for each query, or for each key of each group.
Shape query_shape(const AttentionProblem& forward, Index dim) {
  return {forward.batch, forward.query_heads, forward.query_length, dim};
}
Shape key_shape(const AttentionProblem& forward, Index dim) {
  return {forward.batch, forward.groups, forward.key_length, dim};
}

/// Of what weighs the terms of additive scores.
Shape pair_shape(const AttentionProblem& forward, const AttentionVjpPlan& plan) {
  return {forward.batch, forward.groups, plan.splits_per_group, forward.head_dim};
}

ReadView reading(const TensorView<float>& view) { return {view.data, view.shape, view.strides}; }

/// Rows that are themselves gradients.
ParameterRows rows_alone(const ReadView& rows) {
  static constexpr float kOne = 1.0F;
  const auto [batch, heads, length, dim] = rows.shape;
  return {.rows = rows, .gradients = {&kOne, {batch, heads, length, 1}, {}}};
}

/// A line of the row_sums: see kernels::kSumLines.
ReadView row_sums_of(const VjpJob& job, Index line) {
  ReadView sums = bhnd_view<const float>(job.gradients.row_sums + line, query_shape(job.forward(), kernels::kSumLines));
  sums.shape[3] = 1;
  return sums;
}

void sum_bandwidth(const VjpJob& job) {
  const AttentionProblem& forward = job.forward();
  const TensorView<float>& gradient = job.problem.gradients.score.bandwidth;
  const ReadView sums = row_sums_of(job, 1);
  for (Index head = 0; head < forward.query_heads && gradient.is_present(); ++head) {
    double products = 0.0;
    for (Index b = 0; b < forward.batch; ++b) {
      products = kernels::add_numbers(sums.at(b, head, 0), row_stride(sums), forward.query_length, products);
    }
    const float bandwidth = *at_head(forward, forward.options.score.bandwidth, head);
    *at_head(forward, gradient, head) += kernels::bandwidth_gradient(bandwidth, products);
  }
}

/// Gradients of rows that were made for the call, with several heads for each of their source, and those of the source.
struct MadeRows {
  const TensorView<float>& made;
  const TensorView<float>& target;
  const TensorView<const float>& matrix;  // which the source was projected by; absent: none
  bool is_transposed;
};

/// Writes the gradients of rows [first, first + kMaxRowsPerTask) of a head of the source, numbered over all batch
/// entries: those of its heads, projected the other way round, are summed.
void write_source_rows(const AttentionProblem& forward, const MadeRows& from, Index number, Index first,
                       float* scratch) {
  const Index batch = number / from.target.shape[1];
  const Index head = number % from.target.shape[1];
  const Index made_heads = from.made.shape[1] / from.target.shape[1];
  const Index count = std::min(kMaxRowsPerTask, from.target.shape[2] - first);
  const Index dim = from.target.shape[3];
  for (Index i = 0; i < count; ++i) std::fill_n(from.target.at(batch, head, first + i), dim, 0.0F);
  std::array<kernels::SourceRow, kMaxRowsPerTask> rows;
  for (Index made_head = head * made_heads; made_head < (head + 1) * made_heads; ++made_head) {
    for (Index i = 0; i < count; ++i) {
      rows[static_cast<std::size_t>(i)] = {f32_row(from.made.at(batch, made_head, first + i)), scratch + i * dim};
    }
    if (from.matrix.is_present()) {
      kernels::project({.rows = rows.data(),
                        .row_count = static_cast<int>(count),
                        .source_dim = static_cast<int>(from.made.shape[3]),
                        .target_dim = static_cast<int>(dim),
                        .matrix = at_head(forward, from.matrix, made_head),
                        .matrix_stride = row_stride(from.matrix),
                        .is_transposed = from.is_transposed,
                        .offset = nullptr,
                        .scratch = scratch + round_up(kMaxRowsPerTask * dim, kernels::kPanel)});
    }
    for (Index i = 0; i < count; ++i) {
      const auto& [made, projected] = rows[static_cast<std::size_t>(i)];
      kernels::add_row(from.matrix.is_present() ? f32_row(projected) : made, 1.0F, static_cast<int>(dim),
                       from.target.at(batch, head, first + i));
    }
  }
}

/// The floats of the sums of the largest parameter.
Index parameter_floats_of(const AttentionProblem& forward) {
  Index largest = 0;
  const ScoreFunction& score = forward.options.score;
  for (const TensorView<const float>* view : {&score.w, &score.wq, &score.wk, &score.b, &score.v}) {
    if (view->is_present()) largest = std::max(largest, view->shape[2] * kernels::padded_dim(view->shape[3]));
  }
  return largest;
}

/// The floats for a worker's products: with a matrix, or of rows with their gradients.
Index product_floats_of(const AttentionProblem& forward) {
  if (!are_queries_made(forward) && !are_keys_made(forward)) return 0;
  const Index dim = std::max({forward.inputs.query.shape[3], forward.inputs.key.shape[3], forward.value_dim});
  const Index projected = round_up(kMaxRowsPerTask * dim, kernels::kPanel) +
                          kernels::projection_scratch_floats(kernels::kPanel, forward.head_dim, dim);
  const Index widest = std::max(dim, forward.head_dim);
  return std::max(projected, kernels::parameter_scratch_floats(widest, widest));
}

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
  switch (forward.options.score.kind) {
    case ScoreKind::cosine:
      return forward.scale * inverse_length(job, at);
    case ScoreKind::rbf:
    case ScoreKind::distance:
    case ScoreKind::additive:
      return 1.0F;
    default:
      return forward.scale;
  }
}

kernels::GradientEpilogue query_epilogue(const VjpJob& job, const QueryAt& at) {
  const AttentionProblem& forward = job.forward();
  switch (forward.options.score.kind) {
    case ScoreKind::cosine:
      return {.along = float_row(forward.inputs.query, at.batch, at.head, at.query),
              .inverse_length = inverse_length(job, at),
              .gate = nullptr};
    case ScoreKind::gated:
      return {.along = {}, .inverse_length = 0.0F, .gate = at_head(forward, forward.options.score.w, at.head)};
    default:
      return {};
  }
}

kernels::GradientEpilogue key_epilogue(const VjpJob& job, Index group, Index key) {
  const AttentionProblem& forward = job.forward();
  const Index of_batch = group % forward.groups;
  const FloatView& keys = forward.inputs.key;
  switch (forward.options.score.kind) {
    case ScoreKind::cosine:
      return {.along = float_row(keys, group / forward.groups, forward.head_of(of_batch, keys.shape[1]), key),
              .inverse_length = inverse_length(job.operands.key_operands[group * job.operands.key_stride + key]),
              .gate = nullptr};
    case ScoreKind::gated: {
      const float* const weights = at_head(forward, forward.options.score.w, of_batch * forward.heads_per_group());
      return {.along = {}, .inverse_length = 0.0F, .gate = weights + forward.head_dim};
    }
    default:
      return {};
  }
}

ScoreBackward::ScoreBackward(const AttentionProblem& forward, const AttentionVjpPlan& plan, Executor& executor)
    : executor_(executor),
      product_floats_(product_floats_of(forward)),
      query_(are_queries_made(forward) ? floats_of(query_shape(forward, forward.head_dim)) : 0),
      key_(are_keys_made(forward) ? floats_of(key_shape(forward, forward.head_dim)) : 0),
      value_(are_values_shared(forward) ? floats_of(key_shape(forward, forward.value_dim)) : 0),
      row_sums_(floats_of(query_shape(forward, sum_lines(forward)))),
      key_sums_(forward.options.score.kind == ScoreKind::gated ? floats_of(key_shape(forward, 1)) : 0),
      pair_partials_(is_additive(forward) ? floats_of(pair_shape(forward, plan)) : 0),
      parameters_(parameter_floats_of(forward) * forward.query_heads),
      products_(product_floats_ * plan.workers) {}

Index ScoreBackward::missing_floats() const {
  return heed::missing_floats(
      {&query_, &key_, &value_, &row_sums_, &key_sums_, &pair_partials_, &parameters_, &products_});
}

VjpOperands ScoreBackward::operands(const AttentionVjpProblem& problem) const {
  const AttentionProblem& forward = problem.forward;
  const auto own = [](const Scratch& memory, const Shape& shape, const TensorView<float>& given) {
    return memory.floats() > 0 ? bhnd_view(memory.data(), shape) : given;
  };
  return {.query = own(query_, query_shape(forward, forward.head_dim), problem.gradients.query),
          .key = own(key_, key_shape(forward, forward.head_dim), problem.gradients.key),
          .value = own(value_, key_shape(forward, forward.value_dim), problem.gradients.value),
          .row_sums = row_sums_.data(),
          .key_sums = key_sums_.data(),
          .pair_partials = pair_partials_.data()};
}

void ScoreBackward::run(const VjpJob& job) const {
  const AttentionProblem& forward = job.forward();
  const ScoreFunction& score = forward.options.score;
  const auto write = [&](const MadeRows& rows) {
    if (!rows.target.is_present()) return;
    const auto [batch, heads, length, dim] = rows.target.shape;
    const Index per_head = divide_up(length, kMaxRowsPerTask);
    parallel_for(executor_, {batch * heads * per_head, job.plan.workers, forward.options.stop},
                 [&](Index task, int worker) {
                   write_source_rows(forward, rows, task / per_head, task % per_head * kMaxRowsPerTask,
                                     products_.data() + worker * product_floats_);
                 });
  };
  const AttentionGradients& gradients = job.problem.gradients;
  const bool is_general = score.kind == ScoreKind::general;
  if (are_queries_made(forward)) {
    write({job.gradients.query, gradients.query, is_general ? score.w : score.wq, !is_general});
  }
  if (are_keys_made(forward)) write({job.gradients.key, gradients.key, score.wk, true});
  if (are_values_shared(forward)) write({job.gradients.value, gradients.value, {}, false});
  sum_parameters(job);
}

void ScoreBackward::sum_parameters(const VjpJob& job) const {
  const AttentionInputs& inputs = job.forward().inputs;
  const ScoreGradients& gradients = job.problem.gradients.score;
  const ReadView of_query = reading(job.gradients.query);
  switch (job.forward().options.score.kind) {
    case ScoreKind::general:
      sum(job, gradients.w, {.rows = inputs.query, .gradients = of_query, .is_transposed = true});
      break;
    case ScoreKind::additive:
      sum(job, gradients.wq, {.rows = inputs.query, .gradients = of_query});
      sum(job, gradients.b, rows_alone(of_query));
      sum(job, gradients.wk, {.rows = inputs.key, .gradients = reading(job.gradients.key)});
      sum(job, gradients.v,
          rows_alone(bhnd_view<const float>(job.gradients.pair_partials, pair_shape(job.forward(), job.plan))));
      break;
    case ScoreKind::gated: {
      const ReadView of_keys = bhnd_view<const float>(job.gradients.key_sums, key_shape(job.forward(), 1));
      sum(job, gradients.w, {.rows = inputs.query, .gradients = row_sums_of(job, 0)});
      sum(job, gradients.w, {.rows = inputs.key, .gradients = of_keys, .first_column = inputs.query.shape[3]});
      sum(job, gradients.b, rows_alone(row_sums_of(job, 0)));
      break;
    }
    case ScoreKind::rbf:
      sum_bandwidth(job);
      break;
    default:
      break;
  }
}

void ScoreBackward::sum(const VjpJob& job, const TensorView<float>& parameter, const ParameterRows& from) const {
  if (!parameter.is_present()) return;
  const auto& [rows, gradients, is_transposed, first_column] = from;
  const Index heads = gradients.shape[1];
  const Index lines = is_transposed ? rows.shape[3] : gradients.shape[3];
  const Index columns = is_transposed ? gradients.shape[3] : rows.shape[3];
  const Index stride = kernels::padded_dim(columns);
  parallel_for(executor_, {heads, job.plan.workers, job.forward().options.stop}, [&](Index head, int worker) {
    float* const sums = parameters_.data() + head * lines * stride;
    std::fill_n(sums, lines * stride, 0.0F);
    for (Index b = 0; b < job.forward().batch; ++b) {
      kernels::add_parameter_gradients({.rows = float_row(from.rows, b, head / (heads / from.rows.shape[1]), 0),
                                        .row_stride = row_stride(from.rows),
                                        .gradients = from.gradients.at(b, head, 0),
                                        .gradient_stride = row_stride(from.gradients),
                                        .count = static_cast<int>(from.rows.shape[2]),
                                        .row_dim = static_cast<int>(from.rows.shape[3]),
                                        .gradient_dim = static_cast<int>(from.gradients.shape[3]),
                                        .is_transposed = from.is_transposed,
                                        .sums = sums,
                                        .scratch = products_.data() + worker * product_floats_});
    }
  });
  for (Index head = 0; head < heads; ++head) {
    float* const target = at_head(job.forward(), parameter, head) + first_column;
    for (Index line = 0; line < lines; ++line) {
      const float* const sums = parameters_.data() + (head * lines + line) * stride;
      for (Index i = 0; i < columns; ++i) target[line * parameter.strides[2] + i] += sums[i];
    }
  }
}

}  // namespace heed
