// Rows of the keys and queries of a chunk, and their scores with the keys before them. Rows are whole panels long,
// filled up with zeros.
#pragma once

#include <limits>
#include <numbers>

#include "kernels/linear/linear_task.hpp"
#include "kernels/memory/widen.hpp"
#include "kernels/simd/exp2.hpp"

namespace heed::kernels {

/// The logarithm of a decay that leaves nothing, and the highest that counts.
inline constexpr float kForgets = -std::numeric_limits<float>::infinity();
inline constexpr float kHighestDecay = 88.0F;

/// Keys and queries of a chunk; of either there may be none.
struct ChunkRange {
  int first_key, keys;
  int first_query, queries;
};

/// Rows as they were given, of any type.
struct SourceRows {
  FloatRow first;
  std::ptrdiff_t stride;
  int length;
};

/// e^x: 0 below 2^-126, no more than 2^127.
class Exp {
 public:
  Exp() : exp2_(kExp2OfResults) {}

  Batch operator()(Batch x) const {
    const Batch power = at_most(x * Batch(std::numbers::log2e_v<float>), Batch(127.0F));
    return xsimd::select(power < Batch(-126.0F), Batch(0.0F), exp2_(power));
  }

 private:
  Exp2 exp2_;
};

/// elu(x) + 1, which is x + 1 or e^x.
inline Batch feature(Batch x, const Exp& exp) {
  const Batch zero(0.0F);
  return xsimd::select(x > zero, x + Batch(1.0F), exp(x));
}

/// Loads a vector of a row from number d on.
inline Batch load_row(FloatRow source, int d, int count, bool is_kernel, const Exp& exp) {
  const Batch numbers = load_widened(source, d, count);
  return is_kernel ? feature(numbers, exp) : numbers;
}

[[gnu::noinline]] inline void load_rows(const SourceRows& source_rows, int count, bool is_kernel, float* rows,
                                        int row) {
  const Exp exp;
  const Batch zero(0.0F);
  for (int t = 0; t < count; ++t) {
    const FloatRow source = source_rows.first.from(t * source_rows.stride);
    float* const target = rows + t * row;
    int d = 0;
    for (; d + kLanes <= source_rows.length; d += kLanes) {
      load_row(source, d, kLanes, is_kernel, exp).store_aligned(target + d);
    }
    for (int end = d; end < row; end += kLanes) zero.store_aligned(target + end);
    if (d < source_rows.length) {
      store_some(load_row(source, d, source_rows.length - d, is_kernel, exp), target + d, source_rows.length - d);
    }
  }
}

/// The decays of `count` tokens, and in `logs` the logarithm of their product:
/// tokens that forget make it -infinity.
[[gnu::noinline]] inline void load_decays(const LinearTask& task, int first, int count, float* decays, float* logs,
                                          int row) {
  const Exp exp;
  const Batch zero(0.0F);
  for (int d = 0; d < row; d += kLanes) {
    const int left = task.head_dim - d;
    const int some = left < kLanes ? left : kLanes;
    Batch sum = zero;
    for (int t = 0; t < count; ++t) {
      const float* const given = task.decay + (first + t) * task.decay_stride;
      Batch numbers(*given);
      if (task.has_wide_decay) numbers = some > 0 ? load_some(given + d, some) : zero;
      const Batch decay = exp(numbers);
      decay.store_aligned(decays + t * row + d);
      sum += xsimd::select(decay == zero, Batch(kForgets), at_most(numbers, Batch(kHighestDecay)));
    }
    sum.store_aligned(logs + d);
  }
}

/// What a chunk makes of each row of the state: state = state * kept + state *
/// change.
struct StateDecay {
  float* kept;
  float* change;

  [[nodiscard]] StateDecay from(int row) const { return {kept + row, change + row}; }
};

/// Turns `decay.kept`, logarithms so far, into a chunk's decay. A decay next to
/// 1 is 1 and its difference e^x - 1: as one number it would be rounded, for
/// every chunk the same way, by as much as a long memory forgets.
[[gnu::noinline]] inline void find_state_decay(const StateDecay& decay, int row) {
  const Exp exp;
  const Batch one(1.0F);
  for (int d = 0; d < row; d += kLanes) {
    const Batch x = Batch::load_aligned(decay.kept + d);
    // The series of (e^x - 1) / x: for |x| < 1/2 it is right to 1.1e-8.
    Batch series = one;
    for (int n = 8; n > 1; --n) series = multiply_add(series * x, Batch(1.0F / static_cast<float>(n)), one);
    const auto is_little = xsimd::abs(x) < Batch(0.5F);
    const Batch power = xsimd::select(x > Batch(kHighestDecay), Batch(-kForgets), exp(x));
    xsimd::select(is_little, one, power).store_aligned(decay.kept + d);
    xsimd::select(is_little, series * x, Batch(0.0F)).store_aligned(decay.change + d);
  }
}

[[gnu::noinline]] inline void copy_row(const float* source, float* target, int row) {
  for (int d = 0; d < row; d += kLanes) Batch::load_aligned(source + d).store_aligned(target + d);
}

inline void add_row(const float* row_numbers, float* target, int row) {
  for (int d = 0; d < row; d += kLanes) {
    (Batch::load_aligned(target + d) + Batch::load_aligned(row_numbers + d)).store_aligned(target + d);
  }
}

inline void decay_row(float* numbers, const float* decays, int row) {
  for (int d = 0; d < row; d += kLanes) {
    (Batch::load_aligned(numbers + d) * Batch::load_aligned(decays + d)).store_aligned(numbers + d);
  }
}

[[gnu::noinline]] inline float dot(const float* a, const float* b, int row) {
  Batch sums[2] = {Batch(0.0F), Batch(0.0F)};
  for (int d = 0; d < row; d += 2 * kLanes) {
    for (int vector = 0; vector < 2; ++vector) {
      const int at = d + vector * kLanes;
      sums[vector] = multiply_add(Batch::load_aligned(a + at), Batch::load_aligned(b + at), sums[vector]);
    }
  }
  return xsimd::reduce_add(sums[0] + sums[1]);
}

/// The keys of a chunk, and the decay of each token: what it leaves of what was there before it.
struct ChunkKeys {
  const float* keys;
  const float* decays;  // null: all
  int row;
};

/// Multiplies kRows rows with key s: chunk_scores[r * kChunkScores + s] = row r . key s. Then the rows decay by token
/// s.
template <int kRows, bool kDecays>
[[gnu::always_inline]] inline void score_chunk_key(float* rows, const ChunkKeys& keys_of_chunk, int s,
                                                   float* chunk_scores) {
  const float* const key = keys_of_chunk.keys + s * keys_of_chunk.row;
  const float* const decay = keys_of_chunk.decays + (kDecays ? s * keys_of_chunk.row : 0);
  Batch sums[kRows];
  for (auto& sum : sums) sum = Batch(0.0F);
  for (int d = 0; d < keys_of_chunk.row; d += kLanes) {
    const Batch other = Batch::load_aligned(key + d);
    for (int r = 0; r < kRows; ++r) {
      float* const at = rows + r * keys_of_chunk.row + d;
      const Batch numbers = Batch::load_aligned(at);
      sums[r] = multiply_add(numbers, other, sums[r]);
      if constexpr (kDecays) (numbers * Batch::load_aligned(decay + d)).store_aligned(at);
    }
  }
  for (int r = 0; r < kRows; ++r) chunk_scores[r * kChunkScores + s] = xsimd::reduce_add(sums[r]);
}

template <int kRows, bool kDecays>
[[gnu::noinline]] void score_chunk_keys(float* rows, const ChunkKeys& keys_of_chunk, int from, int to,
                                        float* chunk_scores) {
  for (int s = from - 1; s >= to; --s) score_chunk_key<kRows, kDecays>(rows, keys_of_chunk, s, chunk_scores);
}

/// Multiplies rows with the keys of the chunk from the last to the first, row t with the first `first_count + t`:
/// chunk_scores[t][s] = row t . key s, less what decays after s. What is left of a row then multiplies the state from
/// before the chunk.
template <bool kDecays>
inline void score_chunk_backwards(float* rows, const ChunkKeys& keys_of_chunk, int count, int first_count,
                                  float* chunk_scores) {
  constexpr int together = 4;
  for (int t = 0; t < count; t += together) {
    const int some = count - t < together ? count - t : together;
    const int shared = some == together ? first_count + t : 0;
    for (int r = t; r < t + some; ++r) {
      score_chunk_keys<1, kDecays>(rows + r * keys_of_chunk.row, keys_of_chunk, first_count + r, shared,
                                   chunk_scores + r * kChunkScores);
    }
    score_chunk_keys<together, kDecays>(rows + t * keys_of_chunk.row, keys_of_chunk, shared, 0,
                                        chunk_scores + t * kChunkScores);
  }
}

/// Decays each key by the tokens after it.
inline void decay_keys(float* keys, const float* decays, int count, int row) {
  for (int d = 0; d < row; d += kLanes) {
    Batch left(1.0F);
    for (int s = count - 1; s >= 0; --s) {
      float* const key = keys + s * row + d;
      (Batch::load_aligned(key) * left).store_aligned(key);
      left = left * Batch::load_aligned(decays + s * row + d);
    }
  }
}

}  // namespace heed::kernels
