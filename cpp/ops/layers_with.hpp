// The operations of layers by a given instance of the kernels: what they do after choosing one, and what tests and
// benches call for each.
#pragma once

#include "heed/affine.hpp"
#include "heed/gru.hpp"
#include "heed/normalize_rows.hpp"
#include "heed/pointwise.hpp"
#include "kernels/layer_table.hpp"

namespace heed {

Index packed_floats_for(const kernels::LayerKernels& kernels, Index outputs, Index inputs);

Status pack_weights_with(const kernels::LayerKernels& kernels, const WeightMatrix& matrix, float* packed);

Status affine_with(const kernels::LayerKernels& kernels, const AffineInputs& inputs, const Pointwise& rule,
                   const Rows<float>& output, Executor& executor, const StopFlag* stop = nullptr);

Status pointwise_with(const kernels::LayerKernels& kernels, const Rows<const float>& input, const Pointwise& rule,
                      const Rows<float>& output, Executor& executor, const StopFlag* stop = nullptr);

Status normalize_rows_with(const kernels::LayerKernels& kernels, const Rows<const float>& input, const RowNorm& norm,
                           const Rows<float>& output, const RowStatistics& statistics, Executor& executor);

Status gru_with(const kernels::LayerKernels& kernels, const GruInputs& inputs, const GruOptions& options,
                const GruOutputs& outputs, Executor& executor);

}  // namespace heed
