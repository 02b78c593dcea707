// Takes keys away from rows: key ranges, boolean masks and biases, on a block of scores.
#pragma once

#include <limits>

#include "kernels/key_lines.hpp"
#include "kernels/panel.hpp"
#include "kernels/scores.hpp"
#include "kernels/transpose.hpp"

namespace heed::kernels {

inline constexpr float kMasked = -std::numeric_limits<float>::infinity();

/// `count` numbers that lie `stride` apart, in a vector.
template <class Arch, typename Number>
inline Batch<Arch> load_strided(const Number* source, std::ptrdiff_t stride, int count) {
  alignas(kScratchAlignment) float numbers[kLanes<Arch>] = {};
  for (int i = 0; i < count; ++i) numbers[i] = static_cast<float>(source[i * stride]);
  return Batch<Arch>::load_aligned(numbers);
}

/// A bias in the units of the scores. A finite bias stays finite: the lowest float is a
/// common "never" that must still tell a row of nothing else apart from an empty one, and
/// infinity minus infinity would be NaN.
template <class Arch>
inline Batch<Arch> load_bias(const float* bias, std::ptrdiff_t stride, int count) {
  const Batch<Arch> given = stride == 1 ? load_some<Arch>(bias, count) : load_strided<Arch>(bias, stride, count);
  const Batch<Arch> highest(std::numeric_limits<float>::max());
  const Batch<Arch> bounded = at_least<Arch>(at_most<Arch>(given * Batch<Arch>(kLog2E), highest), -highest);
  return xsimd::select(given == Batch<Arch>(kMasked), given, bounded);
}

/// What mask and bias add to a row's scores of `count` keys, with kMasked where a key is taken away.
template <class Arch>
inline Batch<Arch> load_addends(const AttentionRow& row, const AttentionBlock& block, std::ptrdiff_t key, int count) {
  Batch<Arch> sum(0.0F);
  if (row.bias) sum = load_bias<Arch>(row.bias + key * block.bias_stride, block.bias_stride, count);
  if (!row.mask) return sum;
  const Batch<Arch> attended = load_strided<Arch>(row.mask + key * block.mask_stride, block.mask_stride, count);
  return xsimd::select(attended == Batch<Arch>(0.0F), Batch<Arch>(kMasked), sum);
}

/// The addends of a block, key by key, with rows in lanes.
template <class Arch>
inline void gather_addends(const Panel& panel, const AttentionBlock& block, const KeyLines& keys, float* addends) {
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    rows_to_lanes<Arch>(keys.count, addends + first_lane, kPanel<Arch>, [&](int lane, int i, int some) {
      return load_addends<Arch>(panel.row(first_lane + lane), block, keys.first + i, some);
    });
  }
}

/// Applies ranges and addends (null: none) to the scores and raises maximum[panel]. A
/// masked score is replaced, not added to: a NaN in a masked key must not survive.
template <class Arch>
inline void mask_scores(const Panel& panel, const KeyLines& keys, const float* addend, float* scores, float* maximum) {
  using Keys = xsimd::batch<std::int32_t, Arch>;
  alignas(kScratchAlignment) std::int32_t begins[kPanel<Arch>];
  alignas(kScratchAlignment) std::int32_t ends[kPanel<Arch>];
  alignas(kScratchAlignment) std::int32_t firsts[kPanel<Arch>];
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    begins[lane] = panel.row(lane).key_begin;
    ends[lane] = panel.row(lane).key_end < keys.end() ? panel.row(lane).key_end : keys.end();
    firsts[lane] = keys.key(0, lane);
  }
  const Batch<Arch> masked(kMasked);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    const Keys begin = Keys::load_aligned(begins + first_lane);
    const Keys end = Keys::load_aligned(ends + first_lane);
    const Keys first = Keys::load_aligned(firsts + first_lane);
    Batch<Arch> highest = Batch<Arch>::load_aligned(maximum + first_lane);
    for (int j = 0; j < keys.lines(); ++j) {
      float* const place = scores + j * kPanel<Arch> + first_lane;
      Batch<Arch> score = Batch<Arch>::load_aligned(place);
      if (addend) {
        const Batch<Arch> extra = Batch<Arch>::load_aligned(addend + j * kPanel<Arch> + first_lane);
        score = xsimd::select(extra == masked, masked, score + extra);
      }
      const Keys key = first + Keys(j * keys.per_line);
      const auto is_visible = (key >= begin) & (key < end);
      score = xsimd::select(xsimd::batch_bool_cast<float>(is_visible), score, masked);
      score.store_aligned(place);
      highest = at_least<Arch>(score, highest);
    }
    highest.store_aligned(maximum + first_lane);
  }
}

/// What a boolean mask says of a whole block.
enum class MaskedKeys : std::uint8_t { none, some, all };

inline MaskedKeys look_at_mask(const Panel& panel, const AttentionBlock& block, int first_key, int count) {
  bool any_attended = false;
  bool any_masked = false;
  for (int lane = 0; lane < panel.row_count; ++lane) {
    const std::uint8_t* const mask = panel.rows[lane].mask + first_key * block.mask_stride;
    for (int j = 0; j < count; ++j) {
      any_attended |= mask[j * block.mask_stride] != 0;
      any_masked |= mask[j * block.mask_stride] == 0;
    }
    if (any_attended && any_masked) return MaskedKeys::some;
  }
  return any_masked ? MaskedKeys::all : MaskedKeys::none;
}

}  // namespace heed::kernels
