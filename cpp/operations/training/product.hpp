// A product of two matrices as they lie, which backward passes are made of: the gradients of a linear layer are
// dX = dY W and dW = dY^T X.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output[rows, columns] = left right + addend.
struct ProductCall {
  Rows<const float> left;         // [rows, depth], or transposed [depth, rows]
  Rows<const float> right;        // [depth, columns]
  Rows<const float> addend = {};  // [rows, columns]; absent: zeros
  bool is_transposed = false;     // of the left one
  Rows<float> output;

  HEED_FIELDS(left, right, addend, is_transposed, output)
};

/// The same bits come out for any number of workers. Nothing may overlap. Fails without writing when an input breaks a
/// rule.
Status run(const ProductCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
