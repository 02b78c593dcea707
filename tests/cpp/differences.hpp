// Derivatives by central differences, for gradients of definitions in double precision that take float32.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "support.hpp"

namespace heed::testing {

/// Numbers that are multiples of 2^-10: so steps that are powers of two are exact in single precision.
inline void round_to_grid(std::vector<float>& numbers) {
  for (float& number : numbers) {
    if (std::isfinite(number)) number = std::round(number * 0x1p10F) * 0x1p-10F;
  }
}

/// The sum of numbers, in order, times those of a view.
inline double dot(const std::vector<double>& numbers, const TensorView<const float>& factors) {
  double sum = 0.0;
  std::size_t n = 0;
  for_each_element(factors.shape, [&](Index b, Index h, Index i, Index d) {
    sum += numbers[n++] * static_cast<double>(factors.at(b, h, i)[d]);
  });
  return sum;
}

/// A derivative, and what the central differences of two steps differ by.
struct Difference {
  double value;
  double error;
};

/// Richardson's extrapolation from a step and twice as long a one.
inline Difference difference(float& number, float step, const std::function<double()>& evaluate) {
  const float before = number;
  const auto central = [&](float distance) {
    number = before + distance;
    const double above = evaluate();
    number = before - distance;
    const double below = evaluate();
    number = before;
    return (above - below) / (2.0 * static_cast<double>(distance));
  };
  const double near = central(step);
  const double far = central(2.0F * step);
  return {(4.0 * near - far) / 3.0, std::abs(near - far)};
}

}  // namespace heed::testing
