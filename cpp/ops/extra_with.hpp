// The operations beside attention by a given instance of the kernels: what they do after choosing one, and what tests
// and benches call for each.
#pragma once

#include "heed/linear_attention.hpp"
#include "heed/rope.hpp"
#include "kernels/extra_table.hpp"

namespace heed {

Status rope_with(const kernels::ExtraKernels& kernels, const RopeInputs& inputs, const RopeOptions& options,
                 const TensorView<float>& output, Executor& executor);

Status linear_attention_with(const kernels::ExtraKernels& kernels, const LinearInputs& inputs,
                             const LinearOptions& options, const LinearOutputs& outputs, Executor& executor);

}  // namespace heed
