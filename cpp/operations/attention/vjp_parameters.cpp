// The gradients of the parameters of score functions: sums over the queries of a head, or the keys of a group.
#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/instances/attention.hpp"
#include "kernels/instances/backward.hpp"
#include "operations/attention/vjp_score.hpp"
#include "operations/common/view_rows.hpp"

namespace heed {
namespace {

using ReadView = TensorView<const float>;

ReadView reading(const TensorView<float>& view) { return {view.data, view.shape, view.strides}; }

/// Rows of queries or keys, [batch, heads, length, dim], and the gradients of what a parameter made of them, where
/// several heads may read those of one.
struct ParameterRows {
  FloatView rows;
  ReadView gradients;
  bool is_transposed = false;  // see kernels::ParameterTask
  Index first_column = 0;      // of the parameter
};

/// Rows that are themselves gradients.
ParameterRows rows_alone(const ReadView& rows) {
  static constexpr float kOne = 1.0F;
  const auto [batch, heads, length, dim] = rows.shape;
  return {.rows = rows, .gradients = {&kOne, {batch, heads, length, 1}, {}}};
}

/// A line of the row_sums: see kernels::kSumLines.
ReadView row_sums_of(const VjpJob& job, Index line) {
  ReadView sums = reading(job.gradients.row_sums.view);
  sums.data += line;
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

/// Sums a parameter, or columns of one, for each head, and adds these in order where they share it.
void sum(const VjpJob& job, const TensorView<float>& parameter, const ParameterRows& from) {
  if (!parameter.is_present()) return;
  const auto& [rows, gradients, is_transposed, first_column] = from;
  const Index heads = gradients.shape[1];
  const Index lines = is_transposed ? rows.shape[3] : gradients.shape[3];
  const Index columns = is_transposed ? gradients.shape[3] : rows.shape[3];
  const Index stride = kernels::padded_dim(columns);
  parallel_for(job.executor, job.tasks(heads), [&](Index head, int worker) {
    float* const sums = job.parameters.sums.data() + head * lines * stride;
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
                                        .scratch = job.products_of(worker)});
    }
  });
  for (Index head = 0; head < heads; ++head) {
    float* const target = at_head(job.forward(), parameter, head) + first_column;
    for (Index line = 0; line < lines; ++line) {
      const float* const sums = job.parameters.sums.data() + (head * lines + line) * stride;
      for (Index i = 0; i < columns; ++i) target[line * parameter.strides[2] + i] += sums[i];
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
  const bool has_matrices =
      forward.options.score.kind == ScoreKind::general || forward.options.score.kind == ScoreKind::additive;
  if (!has_matrices && forward.groups == forward.kv_heads) return 0;
  const Index dim = std::max({forward.inputs.query.shape[3], forward.inputs.key.shape[3], forward.value_dim});
  const Index projected = round_up(kMaxRowsPerTask * dim, kernels::kPanel) +
                          kernels::projection_scratch_floats(kernels::kPanel, forward.head_dim, dim);
  const Index widest = std::max(dim, forward.head_dim);
  return std::max(projected, kernels::parameter_scratch_floats(widest, widest));
}

}  // namespace

VjpParameters::VjpParameters(const VjpWork& work)
    : product_floats(product_floats_of(work.forward())),
      products(product_floats * work.plan.workers),
      sums(parameter_floats_of(work.forward()) * work.forward().query_heads) {}

void sum_parameters(const VjpJob& job) {
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
      sum(job, gradients.v, rows_alone(reading(job.gradients.pair_partials.view)));
      break;
    case ScoreKind::gated: {
      const ReadView of_keys = reading(job.gradients.key_sums.view);
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

}  // namespace heed
