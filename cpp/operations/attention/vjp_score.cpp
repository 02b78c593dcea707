#include "operations/attention/vjp_score.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/rounding.hpp"
#include "kernels/instances/attention.hpp"
#include "kernels/instances/backward.hpp"
#include "operations/common/view_rows.hpp"

namespace heed {
namespace {

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

kernels::FloatRow f32_row(const float* numbers) { return {numbers, DType::f32}; }

/// The inverse length of a query, or key, as its gradient takes it. A NaN of its own makes every score NaN that is not
/// masked, and so the gradient already; where all are masked it is not read.
float inverse_length(float prepared) { return std::isnan(prepared) ? 0.0F : prepared; }

float inverse_length(const VjpJob& job, const QueryAt& at) {
  return inverse_length(job.operands.query_operands[row_index(job.forward(), at)]);
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

VjpGradients::VjpGradients(const VjpWork& work, const AttentionProblem& of)
    : own_query(are_queries_made(of), {of.batch, of.query_heads, of.query_length, of.head_dim}),
      own_key(are_keys_made(of), {of.batch, of.groups, of.key_length, of.head_dim}),
      own_value(are_values_shared(of), {of.batch, of.groups, of.key_length, of.value_dim}),
      query(are_queries_made(of) ? own_query.view : work.problem.gradients.query),
      key(are_keys_made(of) ? own_key.view : work.problem.gradients.key),
      value(are_values_shared(of) ? own_value.view : work.problem.gradients.value),
      row_sums(sum_lines(of) > 0, {of.batch, of.query_heads, of.query_length, sum_lines(of)}),
      key_sums(of.options.score.kind == ScoreKind::gated, {of.batch, of.groups, of.key_length, 1}),
      pair_partials(is_additive(of), {of.batch, of.groups, work.plan.splits_per_group, of.head_dim}) {}

void write_operands(const VjpJob& job) {
  const AttentionProblem& forward = job.forward();
  const ScoreFunction& score = forward.options.score;
  const auto write = [&](const MadeRows& rows) {
    if (!rows.target.is_present()) return;
    const auto [batch, heads, length, dim] = rows.target.shape;
    const Index per_head = divide_up(length, kMaxRowsPerTask);
    parallel_for(job.executor, job.tasks(batch * heads * per_head), [&](Index task, int worker) {
      write_source_rows(forward, rows, task / per_head, task % per_head * kMaxRowsPerTask, job.products_of(worker));
    });
  };
  const AttentionGradients& gradients = job.problem.gradients;
  const bool is_general = score.kind == ScoreKind::general;
  if (are_queries_made(forward)) {
    write({job.gradients.query, gradients.query, is_general ? score.w : score.wq, !is_general});
  }
  if (are_keys_made(forward)) write({job.gradients.key, gradients.key, score.wk, true});
  if (are_values_shared(forward)) write({job.gradients.value, gradients.value, {}, false});
}

}  // namespace heed
