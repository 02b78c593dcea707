// The table of one architecture's kernels, which each file of instances/ fills.
#pragma once

#include "kernels/attend.hpp"
#include "kernels/mean_weights.hpp"

namespace heed::kernels {

template <class Arch>
constexpr AttentionKernels make_attention_kernels(const char* name) noexcept {
  return {name, kLanes<Arch>, kPanel<Arch>, &attend<Arch>, &add_weights<Arch>};
}

}  // namespace heed::kernels
