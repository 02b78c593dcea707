// One architecture's kernels of layers, as operations see them.
#pragma once

#include "kernels/row_blocks.hpp"

namespace heed::kernels {

struct LayerKernels {
  const char* name;
  int panel;  // columns of a packed matrix that lie side by side
  void (*multiply)(const MultiplyBlock& block);
  void (*finish)(const FinishBlock& block);
  void (*normalize_rows)(const NormBlock& block);
  void (*pass_gates)(const GateBlock& block);
};

}  // namespace heed::kernels
