// The kernel of linear attention's backward pass as its operation calls it.
#pragma once

#include "kernels/linear/linear_backward_task.hpp"
#include "kernels/simd/width.hpp"

namespace heed::kernels {

/// Writes all gradients of one KV head.
void linear_backward(const LinearBackwardTask& task);

}  // namespace heed::kernels
