// Rows of a chunk's keys and queries, and what each meets of the keys before it. Rows are whole panels long, filled up
// with zeros.
#pragma once

#include <limits>
#include <numbers>

#include "kernels/exp2.hpp"
#include "kernels/half.hpp"
#include "kernels/linear_block.hpp"

namespace heed::kernels {

/// The logarithm of a decay that leaves nothing, and the highest that counts.
inline constexpr float kForgets = -std::numeric_limits<float>::infinity();
inline constexpr float kHighestDecay = 88.0F;

/// Rows of the caller's.
struct GivenRows {
  Numbers first;
  std::ptrdiff_t stride;
  int length;
};

/// e^x: 0 below 2^-126, no more than 2^127.
template <class Arch>
class Exp {
 public:
  Exp() : exp2_(kExp2OfResults) {}

  Batch<Arch> operator()(Batch<Arch> x) const {
    const Batch<Arch> power = at_most<Arch>(x * Batch<Arch>(std::numbers::log2e_v<float>), Batch<Arch>(127.0F));
    return xsimd::select(power < Batch<Arch>(-126.0F), Batch<Arch>(0.0F), exp2_(power));
  }

 private:
  Exp2<Arch> exp2_;
};

/// elu(x) + 1, which is x + 1 or e^x.
template <class Arch>
inline Batch<Arch> feature(Batch<Arch> x, const Exp<Arch>& exp) {
  const Batch<Arch> zero(0.0F);
  return xsimd::select(x > zero, x + Batch<Arch>(1.0F), exp(x));
}

/// The row's vector from number d on.
template <class Arch>
inline Batch<Arch> load_row(Numbers line, int d, int count, bool is_kernel, const Exp<Arch>& exp) {
  const Batch<Arch> numbers = load_numbers<Arch>(line, d, count);
  return is_kernel ? feature<Arch>(numbers, exp) : numbers;
}

template <class Arch>
inline void load_rows(const GivenRows& given, int count, bool is_kernel, float* rows, int row) {
  const Exp<Arch> exp;
  const Batch<Arch> zero(0.0F);
  for (int t = 0; t < count; ++t) {
    const Numbers line = given.first.from(t * given.stride);
    float* const target = rows + t * row;
    int d = 0;
    for (; d + kLanes<Arch> <= given.length; d += kLanes<Arch>) {
      load_row<Arch>(line, d, kLanes<Arch>, is_kernel, exp).store_aligned(target + d);
    }
    for (int end = d; end < row; end += kLanes<Arch>) zero.store_aligned(target + end);
    if (d < given.length) {
      store_some<Arch>(load_row<Arch>(line, d, given.length - d, is_kernel, exp), target + d, given.length - d);
    }
  }
}

/// The decays of `count` tokens, and in `logs` the logarithm of their product: tokens that forget make it -infinity.
template <class Arch>
inline void load_decays(const LinearBlock& block, int first, int count, float* decays, float* logs, int row) {
  const Exp<Arch> exp;
  const Batch<Arch> zero(0.0F);
  for (int d = 0; d < row; d += kLanes<Arch>) {
    const int left = block.head_dim - d;
    const int some = left < kLanes<Arch> ? left : kLanes<Arch>;
    Batch<Arch> sum = zero;
    for (int t = 0; t < count; ++t) {
      const float* const given = block.decay + (first + t) * block.decay_stride;
      Batch<Arch> numbers(*given);
      if (block.has_wide_decay) numbers = some > 0 ? load_some<Arch>(given + d, some) : zero;
      const Batch<Arch> decay = exp(numbers);
      decay.store_aligned(decays + t * row + d);
      sum += xsimd::select(decay == zero, Batch<Arch>(kForgets), at_most<Arch>(numbers, Batch<Arch>(kHighestDecay)));
    }
    sum.store_aligned(logs + d);
  }
}

/// What a chunk makes of each row of the state: state = state * kept + state * change.
struct StateDecay {
  float* kept;
  float* change;

  [[nodiscard]] StateDecay from(int row) const { return {kept + row, change + row}; }
};

/// Turns `decay.kept`, logarithms so far, into a chunk's decay. A decay next to 1 is 1 and its difference e^x - 1: as
/// one number it would be rounded, for every chunk the same way, by as much as a long memory forgets.
template <class Arch>
inline void find_state_decay(const StateDecay& decay, int row) {
  const Exp<Arch> exp;
  const Batch<Arch> one(1.0F);
  for (int d = 0; d < row; d += kLanes<Arch>) {
    const Batch<Arch> x = Batch<Arch>::load_aligned(decay.kept + d);
    // The series of (e^x - 1) / x: for |x| < 1/2 it is right to 1.1e-8.
    Batch<Arch> series = one;
    for (int n = 8; n > 1; --n) series = multiply_add<Arch>(series * x, Batch<Arch>(1.0F / static_cast<float>(n)), one);
    const auto is_little = xsimd::abs(x) < Batch<Arch>(0.5F);
    const Batch<Arch> power = xsimd::select(x > Batch<Arch>(kHighestDecay), Batch<Arch>(-kForgets), exp(x));
    xsimd::select(is_little, one, power).store_aligned(decay.kept + d);
    xsimd::select(is_little, series * x, Batch<Arch>(0.0F)).store_aligned(decay.change + d);
  }
}

template <class Arch>
inline void copy_row(const float* source, float* target, int row) {
  for (int d = 0; d < row; d += kLanes<Arch>) Batch<Arch>::load_aligned(source + d).store_aligned(target + d);
}

template <class Arch>
inline void add_row(const float* row_numbers, float* target, int row) {
  for (int d = 0; d < row; d += kLanes<Arch>) {
    (Batch<Arch>::load_aligned(target + d) + Batch<Arch>::load_aligned(row_numbers + d)).store_aligned(target + d);
  }
}

template <class Arch>
inline void fade_row(float* numbers, const float* decays, int row) {
  for (int d = 0; d < row; d += kLanes<Arch>) {
    (Batch<Arch>::load_aligned(numbers + d) * Batch<Arch>::load_aligned(decays + d)).store_aligned(numbers + d);
  }
}

template <class Arch>
inline float dot(const float* a, const float* b, int row) {
  Batch<Arch> sums[2] = {Batch<Arch>(0.0F), Batch<Arch>(0.0F)};
  for (int d = 0; d < row; d += 2 * kLanes<Arch>) {
    for (int vector = 0; vector < 2; ++vector) {
      const int at = d + vector * kLanes<Arch>;
      sums[vector] =
          multiply_add<Arch>(Batch<Arch>::load_aligned(a + at), Batch<Arch>::load_aligned(b + at), sums[vector]);
    }
  }
  return xsimd::reduce_add(sums[0] + sums[1]);
}

/// Keys of a chunk, and how much each token leaves of what was there before it.
struct MetKeys {
  const float* keys;
  const float* decays;  // null: all
  int row;
};

/// kRows rows meet key s: meetings[r * kMeetings + s] = row r . key s. Then they lose what token s made them lose.
template <class Arch, int kRows, bool kFades>
[[gnu::always_inline]] inline void meet_key(float* rows, const MetKeys& met, int s, float* meetings) {
  const float* const key = met.keys + s * met.row;
  const float* const decay = met.decays + (kFades ? s * met.row : 0);
  Batch<Arch> sums[kRows];
  for (auto& sum : sums) sum = Batch<Arch>(0.0F);
  for (int d = 0; d < met.row; d += kLanes<Arch>) {
    const Batch<Arch> other = Batch<Arch>::load_aligned(key + d);
    for (int r = 0; r < kRows; ++r) {
      float* const at = rows + r * met.row + d;
      const Batch<Arch> numbers = Batch<Arch>::load_aligned(at);
      sums[r] = multiply_add<Arch>(numbers, other, sums[r]);
      if constexpr (kFades) (numbers * Batch<Arch>::load_aligned(decay + d)).store_aligned(at);
    }
  }
  for (int r = 0; r < kRows; ++r) meetings[r * kMeetings + s] = xsimd::reduce_add(sums[r]);
}

template <class Arch, int kRows, bool kFades>
[[gnu::noinline]] void meet_keys(float* rows, const MetKeys& met, int from, int to, float* meetings) {
  for (int s = from - 1; s >= to; --s) meet_key<Arch, kRows, kFades>(rows, met, s, meetings);
}

/// On their way back through the chunk rows meet its keys, row t the first `first_count + t`: meetings[t][s] = row t .
/// key s, less what the tokens after s made it lose. What is left of a row then meets the state from before the chunk.
template <class Arch, bool kFades>
inline void walk_back(float* rows, const MetKeys& met, int count, int first_count, float* meetings) {
  constexpr int together = 4;
  for (int t = 0; t < count; t += together) {
    const int some = count - t < together ? count - t : together;
    const int shared = some == together ? first_count + t : 0;
    for (int r = t; r < t + some; ++r) {
      meet_keys<Arch, 1, kFades>(rows + r * met.row, met, first_count + r, shared, meetings + r * kMeetings);
    }
    meet_keys<Arch, together, kFades>(rows + t * met.row, met, shared, 0, meetings + t * kMeetings);
  }
}

/// Makes of each key what the tokens after it leave of it.
template <class Arch>
inline void fade_keys(float* keys, const float* decays, int count, int row) {
  for (int d = 0; d < row; d += kLanes<Arch>) {
    Batch<Arch> left(1.0F);
    for (int s = count - 1; s >= 0; --s) {
      float* const key = keys + s * row + d;
      (Batch<Arch>::load_aligned(key) * left).store_aligned(key);
      left = left * Batch<Arch>::load_aligned(decays + s * row + d);
    }
  }
}

}  // namespace heed::kernels
