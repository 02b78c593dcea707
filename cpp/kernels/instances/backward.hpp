// The kernels of backward passes as operations call them.
#pragma once

#include "kernels/backward/parameter_task.hpp"

namespace heed::kernels {

/// Adds what some rows and some keys give to all gradients.
void attend_backward(const AttentionTask& task, const BackwardTask& backward);
/// Finds the delta of each row, whose stats are known.
void find_deltas(const AttentionTask& task, const BackwardTask& backward, float* deltas);
void write_query_gradients(const QueryGradientTask& task);
/// Completes the gradient of a query or a key; `of_gate` is that of its gate's argument.
void finish_gradient(const GradientEpilogue& epilogue, float of_gate, int dim, float* gradient);
/// Adds what rows have of a parameter's gradient.
void add_parameter_gradients(const ParameterTask& task);
double add_numbers(const float* numbers, std::ptrdiff_t stride, std::int64_t count, double sum);
/// That of a bandwidth, which divides twice what scales the scores; `products` are of scores and their gradients.
float bandwidth_gradient(float bandwidth, double products);
/// target += factor * source; nothing where the factor is zero, whatever the source.
void add_row(KvRow source, float factor, int dim, float* target);
/// The sum of output_gradient * output of a row.
float row_delta(const float* output_gradient, const float* output, int value_dim);

}  // namespace heed::kernels
