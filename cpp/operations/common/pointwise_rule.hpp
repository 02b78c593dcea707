// What layers do to each number by itself: a bias, an activation, a factor, something to add. It is an operation of its
// own, and the epilogue of a product.
#pragma once

#include "heed/vocabulary.hpp"
#include "kernels/layers/layer_tasks.hpp"
#include "operations/common/rows.hpp"

namespace heed {

/// activation(x + bias) * factor + addend; what is absent is left out. Rows of factor and addend may be fewer than x
/// has, by which they must be divisible: they repeat.
struct Pointwise {
  Activation activation = Activation::none;
  const float* bias = nullptr;  // one a column
  Rows<const float> factor = {};
  Rows<const float> addend = {};

  HEED_FIELDS(activation, bias, factor, addend)
};

/// Whether it leaves everything as it is.
inline bool is_identity(const Pointwise& rule) {
  return rule.activation == Activation::none && rule.bias == nullptr && !rule.factor.is_present() &&
         !rule.addend.is_present();
}

/// Checks the rule for `count` rows of `length` numbers.
Status check_pointwise(const RowRules& rules, const Pointwise& rule, Index count, Index length);

/// Describes `row_count` rows from `first_row` on, and `columns` of their numbers from `first_column` on, without
/// source and target.
kernels::PointwiseTask pointwise_task(const Pointwise& rule, Index first_row, Index row_count, Index first_column,
                                      Index columns);

}  // namespace heed
