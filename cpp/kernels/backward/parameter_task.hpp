// What the kernels of score functions with parameters are given in the backward pass.
#pragma once

#include "kernels/backward/backward_task.hpp"

namespace heed::kernels {

/// Rows of queries or keys, and the gradients of what a parameter made of each. Plain data.
struct ParameterTask {
  FloatRow rows;  // the first of `count`
  std::ptrdiff_t row_stride;
  const float* gradients;
  std::ptrdiff_t gradient_stride;
  int count;
  int row_dim;
  int gradient_dim;
  bool is_transposed;  // the parameter, a matrix [row_dim][gradient_dim]; or else [gradient_dim][row_dim]
  float* sums;         // of the parameter's lines, each in whole panels, aligned
  float* scratch;      // parameter_scratch_floats(...), aligned to kScratchAlignment
};

/// Rows of a block, those that are splat in panels and the others in whole panels.
constexpr std::int64_t parameter_scratch_floats(std::int64_t lines, std::int64_t columns) {
  return std::int64_t{kMaxRows} * (lines + padded_dim(columns));
}

}  // namespace heed::kernels
