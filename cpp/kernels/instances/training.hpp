// The kernels of training as operations call them.
#pragma once

#include "kernels/gemm/gemm_task.hpp"
#include "kernels/layers/training_tasks.hpp"
#include "kernels/simd/width.hpp"

namespace heed::kernels {

void strided_gemm(const StridedGemmTask& task);
void add_rows(const RowSumTask& task);
void pointwise_backward(const PointwiseBackwardTask& task);
void norm_backward(const NormBackwardTask& task);
void gru_step_backward(const GruStepBackwardTask& task);
float cross_entropy(const CrossEntropyTask& task);
double squared_error(const LossTask& task);
double binary_cross_entropy(const LossTask& task);
void adam_step(const AdamTask& task);
void sgd_step(const SgdTask& task);
void combine(const CombineTask& task);
void max_rows(const RowSumTask& task);
void elementwise(const ElementwiseTask& task);
void softmax_row(const SoftmaxTask& task);

}  // namespace heed::kernels
