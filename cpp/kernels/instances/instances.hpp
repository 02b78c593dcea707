// The kernels that this build holds, and which of them this machine can run.
#pragma once

#include <vector>

#include "kernels/attention_block.hpp"
#include "kernels/extra_table.hpp"
#include "kernels/layer_table.hpp"

namespace heed::kernels {

/// Every instance that this machine can run, the fastest first. Never empty.
const std::vector<const AttentionKernels*>& runnable_kernels();

/// The same of the kernels beside attention.
const std::vector<const ExtraKernels*>& runnable_extra_kernels();

/// The same of those of layers.
const std::vector<const LayerKernels*>& runnable_layer_kernels();

}  // namespace heed::kernels
