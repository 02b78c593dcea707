// What layers do to each number by itself: a bias, an activation, a factor, something to add.
#pragma once

#include <cstdint>

#include "heed/executor.hpp"
#include "heed/rows.hpp"
#include "heed/status.hpp"
#include "heed/vocabulary.hpp"

namespace heed {

/// activation(x + bias) * factor + addend; what is absent is left out. Rows of factor and addend may be fewer than x
/// has, by which they must be divisible: they repeat.
struct Pointwise {
  Activation activation = Activation::none;
  const float* bias = nullptr;  // one a column
  Rows<const float> factor;
  Rows<const float> addend;
};

/// Applies the rule to every row of `input`, which may be `output` itself; nothing else may overlap. Fails without
/// writing when an input breaks a rule.
Status pointwise(const Rows<const float>& input, const Pointwise& rule, const Rows<float>& output, Executor& executor,
                 const StopFlag* stop = nullptr);

}  // namespace heed
