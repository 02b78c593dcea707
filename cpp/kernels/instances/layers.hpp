// The kernels of layers as operations call them.
#pragma once

#include "kernels/gemm/gemm_task.hpp"
#include "kernels/layers/layer_tasks.hpp"
#include "kernels/simd/width.hpp"

namespace heed::kernels {

void pointwise(const PointwiseTask& task);
void normalize_rows(const NormTask& task);
void gru_step(const GruStepTask& task);

}  // namespace heed::kernels
