// One architecture's kernels beside attention, as operations see them.
#pragma once

#include "kernels/linear_block.hpp"
#include "kernels/rope_block.hpp"

namespace heed::kernels {

struct ExtraKernels {
  const char* name;
  int panel;  // columns of the state that are computed side by side
  void (*rotate)(const RopeBlock& block);
  void (*attend_linearly)(const LinearBlock& block);
};

}  // namespace heed::kernels
