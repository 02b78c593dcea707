// What the backward pass owes a score function beside products: gradients through what was made of queries and keys
// once a call (see prepare_scores.hpp), and those of the parameters.
#pragma once

#include "kernels/backward/backward_task.hpp"
#include "operations/attention/vjp_job.hpp"

namespace heed {

/// What multiplies the summed gradients of a query; what multiplies it where it adds to those of keys.
float gradient_factor(const VjpJob& job, const QueryAt& at);

/// What completes the gradient of a query, or a key, whose pairs the score's transform is made of.
kernels::GradientEpilogue query_epilogue(const VjpJob& job, const QueryAt& at);
kernels::GradientEpilogue key_epilogue(const VjpJob& job, Index group, Index key);

/// Completes the gradients of queries, keys and values that are not yet the caller's.
void write_operands(const VjpJob& job);

/// Adds the gradients of the parameters.
void sum_parameters(const VjpJob& job);

}  // namespace heed
