// The activations of layers. Each keeps the relative error that it states, roundings included, but for results below
// 1e-34, which may be anything so small; NaN gives NaN, and an infinity the limit.
#pragma once

#include <numbers>

#include "kernels/simd/normal_tail.hpp"
#include "kernels/simd/sigmoid.hpp"
#include "kernels/simd/tanh.hpp"

namespace heed::kernels {

struct Identity {
  Batch operator()(Batch x) const { return x; }
};

struct Relu {
  Batch operator()(Batch x) const { return at_least(x, Batch(0.0F)); }
};

/// 1 / (1 + exp(-x)): 4e-7 + 1.2e-7 |min(x, 0)|.
class Logistic {
 public:
  Logistic() : sigmoid_(kExp2OfResults) {}
  Batch operator()(Batch x) const { return sigmoid_(x * Batch(std::numbers::log2e_v<float>)); }

 private:
  Sigmoid sigmoid_;
};

/// Below this, x times anything of the order of exp(x) is nothing; and -infinity times nothing would be NaN.
inline constexpr float kNothingBelow = -100.0F;

/// x / (1 + exp(-x)): 5e-7 + 1.2e-7 |min(x, 0)|.
class Silu {
 public:
  Batch operator()(Batch x) const {
    x = at_least(x, Batch(kNothingBelow));
    return x * logistic_(x);
  }

 private:
  Logistic logistic_;
};

/// x times the normal distribution at x: 8e-7 + 8e-8 min(x, 0)^2.
class Gelu {
 public:
  Batch operator()(Batch x) const {
    x = at_least(x, Batch(kNothingBelow));
    const Batch tail = tail_(xsimd::abs(at_most(x, Batch(-kNothingBelow))));
    return x * xsimd::select(x < Batch(0.0F), tail, Batch(1.0F) - tail);
  }

 private:
  NormalTail tail_;
};

/// Its approximation by a tanh, 0.5 x (1 + tanh(a)), which is x / (1 + exp(-2 a)) with a = sqrt(2 / pi) (x + 0.044715
/// x^3): 5e-7 + 5e-7 |a| for x < 0, 5e-7 else.
class GeluTanh {
 public:
  GeluTanh() : sigmoid_(kExp2OfResults) {}
  Batch operator()(Batch x) const {
    x = at_least(x, Batch(kNothingBelow));
    // Beyond 100, where all is decided, x^3 must not become an infinity times nothing.
    const Batch near = at_most(x, Batch(-kNothingBelow));
    const Batch cubic = multiply_add(near * near, Batch(0.044715F), Batch(1.0F));
    return x *
           sigmoid_(near * cubic * Batch(2.30220819F));  // NOLINT(modernize-use-std-numbers): 2 sqrt(2 / pi) log2(e)
  }

 private:
  Sigmoid sigmoid_;
};

}  // namespace heed::kernels
