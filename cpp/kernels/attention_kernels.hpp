// The table of one architecture's kernels, which each file of instances/ fills.
#pragma once

#include "kernels/attend.hpp"
#include "kernels/attend_part.hpp"
#include "kernels/lengths.hpp"
#include "kernels/mean_weights.hpp"
#include "kernels/merge_parts.hpp"
#include "kernels/project.hpp"

namespace heed::kernels {

template <class Arch>
constexpr AttentionKernels make_attention_kernels(const char* name) noexcept {
  return {.name = name,
          .lanes = kLanes<Arch>,
          .panel = kPanel<Arch>,
          .short_rows = kPanel<Arch> / 2,
          .attend = &attend<Arch>,
          .attend_part = &attend_part<Arch>,
          .merge_parts = &merge_parts<Arch>,
          .add_weights = &add_weights<Arch>,
          .add_part_weights = &add_part_weights<Arch>,
          .project = &project<Arch>,
          .invert_lengths = &invert_lengths<Arch>};
}

}  // namespace heed::kernels
