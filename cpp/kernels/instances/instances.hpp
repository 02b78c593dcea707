// The kernels that this build holds.
#pragma once

#include <array>

#include "kernels/attention_block.hpp"
#include "kernels/extra_table.hpp"
#include "kernels/layer_table.hpp"

namespace heed::kernels {

extern const AttentionKernels attention_kernels;
extern const ExtraKernels extra_kernels;
extern const LayerKernels layer_kernels;

inline std::array<const AttentionKernels*, 1> runnable_kernels() { return {&attention_kernels}; }
inline std::array<const ExtraKernels*, 1> runnable_extra_kernels() { return {&extra_kernels}; }
inline std::array<const LayerKernels*, 1> runnable_layer_kernels() { return {&layer_kernels}; }

}  // namespace heed::kernels
