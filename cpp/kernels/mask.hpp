// Takes keys away from rows: key ranges, boolean masks and biases, on a block of scores.
#pragma once

#include <cstring>
#include <limits>

#include "kernels/key_block.hpp"
#include "kernels/panel.hpp"
#include "kernels/scores.hpp"
#include "kernels/transpose.hpp"

namespace heed::kernels {

inline constexpr float kMasked = -std::numeric_limits<float>::infinity();

/// The maximum before any key. Finite, because -inf - (-inf) would be NaN; a row
/// that has seen no key yet keeps a sum of zero.
inline constexpr float kNoMaximum = std::numeric_limits<float>::lowest();

/// Whether some row of the panel has no key so far, or none but such whose scores are -infinity.
template <class Arch>
inline bool is_any_without_key(const float* maximum) {
  const Batch<Arch> none(kNoMaximum);
  return xsimd::any((Batch<Arch>::load_aligned(maximum) == none) |
                    (Batch<Arch>::load_aligned(maximum + kLanes<Arch>) == none));
}

/// Of keys whose scores are not made.
inline void mask_weights(const Panel& panel, int first, int end) {
  for (int lane = 0; panel.wants_weights && lane < panel.row_count; ++lane) {
    float* const weights = panel.rows[lane].weights;
    for (int j = first; weights && j < end; ++j) weights[j] = kMasked;
  }
}

/// `count` numbers that lie `stride` apart, in a vector.
template <class Arch, typename Number>
inline Batch<Arch> load_strided(const Number* source, std::ptrdiff_t stride, int count) {
  alignas(kScratchAlignment) float numbers[kLanes<Arch>] = {};
  for (int i = 0; i < count; ++i) numbers[i] = static_cast<float>(source[i * stride]);
  return Batch<Arch>::load_aligned(numbers);
}

/// A lane's byte of four that are in every lane.
alignas(kScratchAlignment) inline constexpr std::uint32_t kByteOfLane[] = {
    0xFFU, 0xFF00U, 0xFF0000U, 0xFF000000U, 0xFFU, 0xFF00U, 0xFF0000U, 0xFF000000U,
    0xFFU, 0xFF00U, 0xFF0000U, 0xFF000000U, 0xFFU, 0xFF00U, 0xFF0000U, 0xFF000000U};

/// Four bytes in every lane, or, with longer vectors, each four in the four lanes that they are for.
template <class Arch>
inline xsimd::batch<std::uint32_t, Arch> spread_bytes(const std::uint8_t* bytes) {
  std::uint32_t words[kLanes<Arch> / 4];
  std::memcpy(words, bytes, sizeof words);
  if constexpr (kLanes<Arch> == 4) {
    return xsimd::batch<std::uint32_t, Arch>(words[0]);
  } else {
    alignas(kScratchAlignment) std::uint32_t lanes[kLanes<Arch>];
    for (int lane = 0; lane < kLanes<Arch>; ++lane) lanes[lane] = words[lane / 4];
    return xsimd::batch<std::uint32_t, Arch>::load_aligned(lanes);
  }
}

/// Which of a vector of bytes in a row are zero.
template <class Arch>
inline xsimd::batch_bool<float, Arch> are_zero(const std::uint8_t* bytes) {
  using Words = xsimd::batch<std::uint32_t, Arch>;
  const Words own = spread_bytes<Arch>(bytes) & Words::load_aligned(opaque(kByteOfLane));
  return xsimd::batch_bool_cast<float>(own == Words(0U));
}

struct AddendConstants {
  float masked = kMasked;
  float highest = std::numeric_limits<float>::max();
};

inline constexpr AddendConstants kAddendConstants{};

/// Reads what mask and bias add to scores. Holds its constants: make one before a loop.
template <class Arch>
class Addends {
 public:
  explicit Addends(const AttentionBlock& block) : Addends(block, opaque(&kAddendConstants)) {}

  /// Of a row and `count` keys, with kMasked where a key is taken away.
  Batch<Arch> operator()(const AttentionRow& row, std::ptrdiff_t key, int count) const {
    const Batch<Arch> sum = row.bias ? bias(row.bias + key * bias_stride_, count) : Batch<Arch>(0.0F);
    if (!row.mask) return sum;
    const std::uint8_t* const mask = row.mask + key * mask_stride_;
    if (mask_stride_ == 1 && count == kLanes<Arch>) return xsimd::select(are_zero<Arch>(mask), masked_, sum);
    const Batch<Arch> attended = load_strided<Arch>(mask, mask_stride_, count);
    return xsimd::select(attended == Batch<Arch>(0.0F), masked_, sum);
  }

  Batch<Arch> bias(const float* bias, int count) const {
    return in_score_units(bias_stride_ == 1 ? load_some<Arch>(bias, count)
                                            : load_strided<Arch>(bias, bias_stride_, count));
  }

  /// A finite bias stays finite: the lowest float is a common "never" that must still tell a row of
  /// nothing else apart from an empty one, and infinity minus infinity would be NaN.
  [[nodiscard]] Batch<Arch> in_score_units(Batch<Arch> bias) const {
    const Batch<Arch> bounded = at_least<Arch>(at_most<Arch>(bias * units_, highest_), -highest_);
    return xsimd::select(bias == masked_, bias, bounded);
  }

  /// The same as the operator, for rows in lanes with biases, and numbers that lie side by side: without a question
  /// in the loop it takes a third of the time.
  template <bool kMask>
  void gather_whole(const AttentionRow* const (&rows)[kLanes<Arch>], std::ptrdiff_t key, int count,
                    float* addends) const {
    const float* biases[kLanes<Arch>];
    const std::uint8_t* masks[kLanes<Arch>];
    for (int lane = 0; lane < kLanes<Arch>; ++lane) {
      biases[lane] = rows[lane]->bias + key;
      masks[lane] = kMask ? rows[lane]->mask + key : nullptr;
    }
    rows_to_lanes<Arch>(count, addends, kPanel<Arch>, [&](int lane, int i, int) {
      const Batch<Arch> sum = in_score_units(Batch<Arch>::load_unaligned(biases[lane] + i));
      return kMask ? xsimd::select(are_zero<Arch>(masks[lane] + i), masked_, sum) : sum;
    });
  }

  [[nodiscard]] bool lie_side_by_side(const AttentionRow& row) const {
    return (!row.bias || bias_stride_ == 1) && (!row.mask || mask_stride_ == 1);
  }

 private:
  Addends(const AttentionBlock& block, const AddendConstants* c)
      : bias_stride_(block.bias_stride),
        mask_stride_(block.mask_stride),
        masked_(c->masked),
        units_(block.score_units),
        highest_(c->highest) {}

  std::ptrdiff_t bias_stride_, mask_stride_;
  Batch<Arch> masked_, units_, highest_;
};

/// The addends of a block, key by key, with rows in lanes.
template <class Arch>
inline void gather_addends(const Panel& panel, const AttentionBlock& block, const KeyLines& keys, float* addends) {
  const Addends<Arch> addends_of(block);
  const AttentionRow& any = panel.rows[0];
  const int whole = any.bias && addends_of.lie_side_by_side(any) ? keys.count / kLanes<Arch> * kLanes<Arch> : 0;
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    float* const target = addends + first_lane;
    const AttentionRow* rows[kLanes<Arch>];
    for (int lane = 0; lane < kLanes<Arch>; ++lane) rows[lane] = &panel.row(first_lane + lane);
    if (whole > 0 && rows[0]->mask) {
      addends_of.template gather_whole<true>(rows, keys.first, whole, target);
    } else if (whole > 0) {
      addends_of.template gather_whole<false>(rows, keys.first, whole, target);
    }
    rows_to_lanes<Arch>(
        keys.count - whole, target + whole * kPanel<Arch>, kPanel<Arch>,
        [&](int lane, int i, int some) { return addends_of(*rows[lane], keys.first + whole + i, some); });
  }
}

/// What lies over scores beside key ranges, and how: nothing, numbers to add line by line, or bytes of a boolean
/// mask, those of four lines in a word of each lane.
enum class Overlay : std::uint8_t { nothing, addends, bytes };

inline constexpr int kBytesOfWord = 4;

/// The mask of a block with rows in lanes, as Overlay::bytes: transposed four keys at a time.
template <class Arch>
[[gnu::noinline]] void gather_bytes(const Panel& panel, const KeyLines& keys, float* words) {
  constexpr int whole = kLanes<Arch> * kBytesOfWord;
  for (int first_lane = 0; first_lane < kPanel<Arch>; first_lane += kLanes<Arch>) {
    const std::uint8_t* masks[kLanes<Arch>];
    for (int lane = 0; lane < kLanes<Arch>; ++lane) masks[lane] = panel.row(first_lane + lane).mask + keys.first;
    const int count = (keys.count + kBytesOfWord - 1) / kBytesOfWord;
    rows_to_lanes<Arch>(count, words + first_lane, kPanel<Arch>, [&](int lane, int word, int) {
      const std::uint8_t* source = masks[lane] + word * kBytesOfWord;
      const int left = keys.count - word * kBytesOfWord;
      alignas(kScratchAlignment) std::uint8_t bytes[whole] = {};
      if (left < whole) {
        std::memcpy(bytes, source, static_cast<std::size_t>(left));
        source = bytes;
      }
      return xsimd::bitwise_cast<float>(xsimd::batch<std::uint8_t, Arch>::load_unaligned(source));
    });
  }
}

/// Where each lane's keys begin and end, and which it is at.
template <class Arch>
struct KeyRanges {
  using Keys = xsimd::batch<std::int32_t, Arch>;
  Keys begin, end, first;

  KeyRanges(const Panel& panel, const KeyLines& keys, int first_lane) {
    alignas(kScratchAlignment) std::int32_t numbers[3][kLanes<Arch>];
    for (int lane = 0; lane < kLanes<Arch>; ++lane) {
      const AttentionRow& row = panel.row(first_lane + lane);
      numbers[0][lane] = row.key_begin;
      numbers[1][lane] = row.key_end < keys.end() ? row.key_end : keys.end();
      numbers[2][lane] = keys.key(0, first_lane + lane);
    }
    begin = Keys::load_aligned(numbers[0]);
    end = Keys::load_aligned(numbers[1]);
    first = Keys::load_aligned(numbers[2]);
  }

  /// Which lanes see the key that is `ahead` of their first.
  [[nodiscard]] xsimd::batch_bool<float, Arch> sees(int ahead) const {
    const Keys key = first + Keys(ahead);
    return xsimd::batch_bool_cast<float>((key >= begin) & (key < end));
  }
};

/// Lines [begin, end) that every row sees in whole.
struct ClearLines {
  int begin, end;

  ClearLines(const Panel& panel, const KeyLines& keys) : begin(panel.last_begin - keys.first), end(begin) {
    const int lines = keys.lines();
    begin = begin < 0 ? 0 : begin;
    end = panel.first_end - keys.first;
    end = end < lines ? end : lines;
    if (keys.per_line > 1 || begin >= end) begin = end = 0;
  }
};

/// Applies ranges and an overlay to the scores and raises maximum[panel]. A masked score is
/// replaced, not added to: a NaN in a masked key must not survive.
template <class Arch>
inline void mask_scores(const Panel& panel, const KeyLines& keys, Overlay overlay, const float* overlaid, float* scores,
                        float* maximum) {
  using Words = xsimd::batch<std::uint32_t, Arch>;
  const Batch<Arch> masked(*opaque(&kMasked));
  const ClearLines clear(panel, keys);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    const KeyRanges<Arch> ranges(panel, keys, first_lane);
    Batch<Arch> highest = Batch<Arch>::load_aligned(maximum + first_lane);
    const auto mask_lines = [&]<Overlay kOverlay, bool kIsClear>(int begin, int end) {
      for (int j = begin; j < end; ++j) {
        float* const place = scores + j * kPanel<Arch> + first_lane;
        Batch<Arch> score = Batch<Arch>::load_aligned(place);
        if constexpr (kOverlay == Overlay::addends) {
          const Batch<Arch> extra = Batch<Arch>::load_aligned(overlaid + j * kPanel<Arch> + first_lane);
          score = xsimd::select(extra == masked, masked, score + extra);
        } else if constexpr (kOverlay == Overlay::bytes) {
          const Batch<Arch> word = Batch<Arch>::load_aligned(overlaid + j / kBytesOfWord * kPanel<Arch> + first_lane);
          const Words own = xsimd::bitwise_cast<std::uint32_t>(word) & Words(0xFFU << (j % kBytesOfWord * 8));
          score = xsimd::select(xsimd::batch_bool_cast<float>(own == Words(0U)), masked, score);
        }
        if (!kIsClear) score = xsimd::select(ranges.sees(j * keys.per_line), score, masked);
        if (!kIsClear || kOverlay != Overlay::nothing) score.store_aligned(place);
        highest = at_least<Arch>(score, highest);
      }
    };
    const auto mask_all = [&]<Overlay kOverlay>() {
      mask_lines.template operator()<kOverlay, false>(0, clear.begin);
      mask_lines.template operator()<kOverlay, true>(clear.begin, clear.end);
      mask_lines.template operator()<kOverlay, false>(clear.end, keys.lines());
    };
    switch (overlay) {
      case Overlay::nothing:
        mask_all.template operator()<Overlay::nothing>();
        break;
      case Overlay::addends:
        mask_all.template operator()<Overlay::addends>();
        break;
      case Overlay::bytes:
        mask_all.template operator()<Overlay::bytes>();
        break;
    }
    highest.store_aligned(maximum + first_lane);
  }
}

/// Whether any of `count` bytes is not zero, and whether any is. There is no way out of the loop: what it would spare
/// is less than what it costs.
template <class Arch>
[[gnu::noinline]] void look_at_bytes(const std::uint8_t* mask, std::ptrdiff_t stride, int count, bool& any_attended,
                                     bool& any_masked) {
  using Bytes = xsimd::batch<std::uint8_t, Arch>;
  constexpr int width = static_cast<int>(Bytes::size);
  int j = 0;
  if (stride == 1 && count >= width) {
    Bytes attended(std::uint8_t{0});
    Bytes least(std::uint8_t{255});
    for (; j + width <= count; j += width) {
      const Bytes bytes = Bytes::load_unaligned(mask + j);
      attended = attended | bytes;
      least = xsimd::min(least, bytes);
    }
    any_attended |= xsimd::any(attended != Bytes(std::uint8_t{0}));
    any_masked |= xsimd::any(least == Bytes(std::uint8_t{0}));
  }
  for (; j < count; ++j) {
    any_attended |= mask[j * stride] != 0;
    any_masked |= mask[j * stride] == 0;
  }
}

/// The keys that mask and bias have numbers for. Others are reached only for scores from before the masks.
inline KeyLines keys_with_addends(const AttentionBlock& block, KeyLines keys) {
  const int count = block.addend_length - keys.first;
  if (count < keys.count) keys.count = count > 0 ? count : 0;
  return keys;
}

/// Of all rows' bytes together; those that neighbours share are looked at once.
template <class Arch>
inline MaskedKeys look_at_mask(const Panel& panel, const AttentionBlock& block, const KeyLines& all_keys) {
  const KeyLines keys = keys_with_addends(block, all_keys);
  bool any_attended = false;
  bool any_masked = false;
  const std::uint8_t* before = nullptr;
  for (int lane = 0; lane < panel.row_count; ++lane) {
    const std::uint8_t* const mask = panel.rows[lane].mask;
    if (mask == before) continue;
    before = mask;
    look_at_bytes<Arch>(mask + keys.first * block.mask_stride, block.mask_stride, keys.count, any_attended, any_masked);
    if (any_attended && any_masked) return MaskedKeys::some;
  }
  return any_masked ? MaskedKeys::all : MaskedKeys::none;
}

}  // namespace heed::kernels
