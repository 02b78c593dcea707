// The kernels beside attention as operations call them.
#pragma once

#include "kernels/layers/rope_task.hpp"
#include "kernels/linear/linear_task.hpp"
#include "kernels/simd/width.hpp"

namespace heed::kernels {

void rotate(const RopeTask& task);
void attend_linearly(const LinearTask& task);

}  // namespace heed::kernels
