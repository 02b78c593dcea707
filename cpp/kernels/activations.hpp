// The functions that layers bend numbers with. Each keeps the relative error that it states, roundings included, but
// for results below 1e-34, which may be anything so small; NaN gives NaN, and an infinity the limit.
#pragma once

#include "kernels/normal_tail.hpp"
#include "kernels/sigmoid.hpp"
#include "kernels/tanh.hpp"

namespace heed::kernels {

template <class Arch>
struct Identity {
  Batch<Arch> operator()(Batch<Arch> x) const { return x; }
};

template <class Arch>
struct Relu {
  Batch<Arch> operator()(Batch<Arch> x) const { return at_least<Arch>(x, Batch<Arch>(0.0F)); }
};

/// 1 / (1 + exp(-x)): 4e-7 + 1.2e-7 |min(x, 0)|.
template <class Arch>
class Logistic {
 public:
  Logistic() : sigmoid_(kExp2OfResults) {}
  Batch<Arch> operator()(Batch<Arch> x) const { return sigmoid_(x * Batch<Arch>(1.44269504F)); }

 private:
  Sigmoid<Arch> sigmoid_;
};

/// Below this, x times anything of the order of exp(x) is nothing; and -infinity times nothing would be NaN.
inline constexpr float kNothingBelow = -100.0F;

/// x / (1 + exp(-x)): 5e-7 + 1.2e-7 |min(x, 0)|.
template <class Arch>
class Silu {
 public:
  Batch<Arch> operator()(Batch<Arch> x) const {
    x = at_least<Arch>(x, Batch<Arch>(kNothingBelow));
    return x * logistic_(x);
  }

 private:
  Logistic<Arch> logistic_;
};

/// x times the normal distribution at x: 8e-7 + 8e-8 min(x, 0)^2.
template <class Arch>
class Gelu {
 public:
  Batch<Arch> operator()(Batch<Arch> x) const {
    x = at_least<Arch>(x, Batch<Arch>(kNothingBelow));
    const Batch<Arch> tail = tail_(xsimd::abs(at_most<Arch>(x, Batch<Arch>(-kNothingBelow))));
    return x * xsimd::select(x < Batch<Arch>(0.0F), tail, Batch<Arch>(1.0F) - tail);
  }

 private:
  NormalTail<Arch> tail_;
};

/// Its approximation by a tanh, 0.5 x (1 + tanh(a)), which is x / (1 + exp(-2 a)) with a = sqrt(2 / pi) (x + 0.044715
/// x^3): 5e-7 + 5e-7 |a| for x < 0, 5e-7 else.
template <class Arch>
class GeluTanh {
 public:
  GeluTanh() : sigmoid_(kExp2OfResults) {}
  Batch<Arch> operator()(Batch<Arch> x) const {
    x = at_least<Arch>(x, Batch<Arch>(kNothingBelow));
    // Beyond 100, where all is decided, x^3 must not become an infinity times nothing.
    const Batch<Arch> near = at_most<Arch>(x, Batch<Arch>(-kNothingBelow));
    const Batch<Arch> cubic = multiply_add<Arch>(near * near, Batch<Arch>(0.044715F), Batch<Arch>(1.0F));
    return x * sigmoid_(near * cubic * Batch<Arch>(2.30220819F));  // 2 sqrt(2 / pi) log2(e)
  }

 private:
  Sigmoid<Arch> sigmoid_;
};

}  // namespace heed::kernels
