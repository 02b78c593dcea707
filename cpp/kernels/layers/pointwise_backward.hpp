// The backward pass of activations and factors. An activation gives its value and its slope.
#pragma once

#include <iterator>

#include "kernels/layers/activations.hpp"
#include "kernels/layers/training_tasks.hpp"
#include "kernels/simd/transpose.hpp"

namespace heed::kernels {

struct ValueAndSlope {
  Batch value, slope;
};

struct IdentitySlope {
  ValueAndSlope operator()(Batch x) const { return {x, Batch(1.0F)}; }
};

/// The slope at 0 is 0, as in PyTorch.
struct ReluSlope {
  ValueAndSlope operator()(Batch x) const {
    return {at_least(x, Batch(0.0F)), xsimd::select(x > Batch(0.0F), Batch(1.0F), Batch(0.0F))};
  }
};

class LogisticSlope {
 public:
  ValueAndSlope operator()(Batch x) const {
    const Batch value = logistic_(x);
    return {value, value * (Batch(1.0F) - value)};
  }

 private:
  Logistic logistic_;
};

class TanhSlope {
 public:
  ValueAndSlope operator()(Batch x) const {
    const Batch value = tanh_(x);
    return {value, (Batch(1.0F) - value) * (Batch(1.0F) + value)};
  }

 private:
  Tanh tanh_;
};

class SiluSlope {
 public:
  ValueAndSlope operator()(Batch x) const {
    x = at_least(x, Batch(kNothingBelow));
    const Batch sigmoid = logistic_(x);
    const Batch value = x * sigmoid;
    return {value, multiply_add(value, Batch(1.0F) - sigmoid, sigmoid)};
  }

 private:
  Logistic logistic_;
};

/// x P(x) with the normal distribution P, whose slope is P(x) + x p(x).
class GeluSlope {
 public:
  GeluSlope() : exp2_(kExp2OfResults) {}
  ValueAndSlope operator()(Batch x) const {
    x = at_least(x, Batch(kNothingBelow));
    const Batch size = xsimd::abs(at_most(x, Batch(-kNothingBelow)));
    const Batch tail = tail_(size);
    const Batch cdf = xsimd::select(x < Batch(0.0F), tail, Batch(1.0F) - tail);
    constexpr float half_log2e = 0.72134752F;
    constexpr float inverse_root = 0.39894228F;  // 1 / sqrt(2 pi)
    const Batch density = exp2_(size * size * Batch(-half_log2e)) * Batch(inverse_root);
    return {x * cdf, multiply_add(x, density, cdf)};
  }

 private:
  NormalTail tail_;
  Exp2 exp2_;
};

/// x s(2 a(x)), whose slope is s + 2 x a'(x) s (1 - s).
class GeluTanhSlope {
 public:
  GeluTanhSlope() : sigmoid_(kExp2OfResults) {}
  ValueAndSlope operator()(Batch x) const {
    x = at_least(x, Batch(kNothingBelow));
    const Batch near = at_most(x, Batch(-kNothingBelow));
    const Batch square = near * near;
    const Batch cubic = multiply_add(square, Batch(0.044715F), Batch(1.0F));
    // NOLINTNEXTLINE(modernize-use-std-numbers): 2 sqrt(2 / pi) log2(e)
    const Batch sigmoid = sigmoid_(near * cubic * Batch(2.30220819F));
    // 2 x a'(x), with a'(x) = sqrt(2 / pi) (1 + 3 * 0.044715 x^2)
    const Batch inner_slope = near * multiply_add(square, Batch(0.134145F), Batch(1.0F)) * Batch(1.59576912F);
    return {x * sigmoid, multiply_add(inner_slope * sigmoid, Batch(1.0F) - sigmoid, sigmoid)};
  }

 private:
  Sigmoid sigmoid_;
};

template <class Function>
[[gnu::noinline]] void pointwise_backward_rows(const PointwiseBackwardTask& task) {
  const Function activation;
  for (int index = 0; index < task.row_count; ++index) {
    const float* const gradients = task.gradient + index * task.gradient_stride;
    const float* const source = task.source + index * task.source_stride;
    const float* const factor = task.factor == nullptr ? nullptr : task.factor + index * task.factor_stride;
    float* const of_source = task.source_gradient + index * task.source_gradient_stride;
    float* const of_factor =
        task.factor_gradient == nullptr ? nullptr : task.factor_gradient + index * task.factor_gradient_stride;
    for (int i = 0; i < task.length; i += kLanes) {
      const int count = task.length - i < kLanes ? task.length - i : kLanes;
      const Batch gradient = load_some(gradients + i, count);
      const auto [value, slope] = activation(load_some(source + i, count));
      const Batch passed = factor == nullptr ? gradient : gradient * load_some(factor + i, count);
      store_some(passed * slope, of_source + i, count);
      if (of_factor != nullptr) store_some(gradient * value, of_factor + i, count);
    }
  }
}

void pointwise_backward(const PointwiseBackwardTask& task) {
  // In the order of Activation.
  static constexpr void (*kLoops[])(const PointwiseBackwardTask&) = {
      &pointwise_backward_rows<IdentitySlope>, &pointwise_backward_rows<ReluSlope>, &pointwise_backward_rows<GeluSlope>,
      &pointwise_backward_rows<GeluTanhSlope>, &pointwise_backward_rows<SiluSlope>, &pointwise_backward_rows<TanhSlope>,
      &pointwise_backward_rows<LogisticSlope>};
  static_assert(std::size(kLoops) == static_cast<int>(Activation::last) + 1);
  kLoops[static_cast<int>(task.activation)](task);
}

}  // namespace heed::kernels
