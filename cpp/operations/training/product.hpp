// Products of matrices as they lie, which backward passes are made of: the gradients of a linear layer are dX = dY W
// and dW = dY^T X.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output[rows, columns] = left right + addend, for as many matrices as there are outputs.
struct ProductCall {
  Matrices<const float> left;    // [rows, depth], or transposed [depth, rows]
  Matrices<const float> right;   // [depth, columns]
  Matrices<const float> addend;  // [rows, columns]; absent: zeros
  bool is_transposed = false;    // of the left ones
  Matrices<float> output;

  HEED_FIELDS(left, right, addend, is_transposed, output)
};

/// The same bits come out for any number of workers. Nothing may overlap. Fails without writing when an input breaks a
/// rule.
Status run(const ProductCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
