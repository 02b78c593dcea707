// What layers do to each number by itself: a bias, an activation, a factor, something to add.
#pragma once

#include <cstdint>

#include "heed/executor.hpp"
#include "heed/rows.hpp"
#include "heed/status.hpp"

namespace heed {

enum class Activation : std::uint8_t {
  none = 0,
  relu = 1,
  gelu = 2,       // x times the normal distribution at x
  gelu_tanh = 3,  // its approximation, x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3)))
  silu = 4,       // x / (1 + exp(-x))
  tanh = 5,
  sigmoid = 6,
};

/// activation(x + bias) * factor + addend; what is absent is left out. Rows of factor and addend may be fewer than x
/// has, by which they must be divisible: they repeat.
struct Pointwise {
  Activation activation = Activation::none;
  const float* bias = nullptr;  // one a column
  Rows<const float> factor;
  Rows<const float> addend;
};

/// Writes that of every row of `input`, which may be `output` itself; nothing else may overlap. Fails without writing
/// when an input breaks a rule.
Status pointwise(const Rows<const float>& input, const Pointwise& rule, const Rows<float>& output, Executor& executor,
                 const StopFlag* stop = nullptr);

}  // namespace heed
