// The kernels of backward passes as operations call them.
#pragma once

#include "kernels/backward/backward_task.hpp"

namespace heed::kernels {

/// Adds what some rows and some keys give to all gradients.
void attend_backward(const AttentionTask& task, const BackwardTask& backward);
/// Finds the delta of each row, whose stats are known.
void find_deltas(const AttentionTask& task, const BackwardTask& backward, float* deltas);
void write_query_gradients(const QueryGradientTask& task);
/// target += factor * source; nothing where the factor is zero, whatever the source.
void add_row(KvRow source, float factor, int dim, float* target);
/// The dot product of two rows. Where a number of `b` is zero, that of `a` does not count, NaN or not.
float dot_rows(KvRow a, KvRow b, int dim);
/// The sum of output_gradient * output of a row.
float row_delta(const float* output_gradient, const float* output, int value_dim);

}  // namespace heed::kernels
