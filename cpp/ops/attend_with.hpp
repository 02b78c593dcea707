// Attention by a given instance of the kernels: what attention() does after choosing
// one, and what tests and benches call for each.
#pragma once

#include "heed/attention.hpp"
#include "kernels/attention_block.hpp"

namespace heed {

Status attend_with(const kernels::AttentionKernels& kernels, const AttentionInputs& inputs,
                   const AttentionOptions& options, const AttentionOutputs& outputs, Executor& executor);

}  // namespace heed
