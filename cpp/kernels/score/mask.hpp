// Masks: key ranges, boolean masks and biases, applied to the scores of a block.
#pragma once

#include <cstring>
#include <limits>

#include "kernels/simd/transpose.hpp"
#include "kernels/task/key_block.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

inline constexpr float kMasked = -std::numeric_limits<float>::infinity();

/// The row_max before any key. It is finite, because -inf - (-inf) would be NaN; a row that has seen no key yet keeps a
/// row_sum of zero.
inline constexpr float kNoRowMax = std::numeric_limits<float>::lowest();

/// Whether some row of the panel has no key so far, or none but such whose
/// scores are -infinity.
inline bool is_any_without_key(const float* row_max) {
  const Batch none(kNoRowMax);
  return xsimd::any((Batch::load_aligned(row_max) == none) | (Batch::load_aligned(row_max + kLanes) == none));
}

/// Masks the weights of keys whose scores are not made.
inline void mask_weights(const Panel& panel, int first, int end) {
  for (int lane = 0; panel.wants_weights && lane < panel.row_count; ++lane) {
    float* const weights = panel.rows[lane].weights;
    for (int j = first; weights && j < end; ++j) weights[j] = kMasked;
  }
}

/// Loads `count` numbers that lie `stride` apart.
template <typename Number>
inline Batch load_strided(const Number* source, std::ptrdiff_t stride, int count) {
  alignas(kScratchAlignment) float numbers[kLanes] = {};
  for (int i = 0; i < count; ++i) numbers[i] = static_cast<float>(source[i * stride]);
  return Batch::load_aligned(numbers);
}

/// The byte of each lane among four that all lanes hold.
alignas(kScratchAlignment) inline constexpr std::uint32_t kByteOfLane[] = {
    0xFFU, 0xFF00U, 0xFF0000U, 0xFF000000U, 0xFFU, 0xFF00U, 0xFF0000U, 0xFF000000U,
    0xFFU, 0xFF00U, 0xFF0000U, 0xFF000000U, 0xFFU, 0xFF00U, 0xFF0000U, 0xFF000000U};

/// Loads four bytes into every lane, or, with longer vectors, each four into the four lanes that they are for.
inline U32Batch spread_bytes(const std::uint8_t* bytes) {
  std::uint32_t words[kLanes / 4];
  std::memcpy(words, bytes, sizeof words);
  if constexpr (kLanes == 4) {
    return {words[0]};
  } else {
    alignas(kScratchAlignment) std::uint32_t lanes[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = words[lane / 4];
    return U32Batch::load_aligned(lanes);
  }
}

/// Which bytes of a vector are zero.
inline xsimd::batch_bool<float, Arch> are_zero(const std::uint8_t* bytes) {
  const U32Batch own = spread_bytes(bytes) & U32Batch::load_aligned(opaque(kByteOfLane));
  return xsimd::batch_bool_cast<float>(own == U32Batch(0U));
}

struct AddendConstants {
  float masked = kMasked;
  float highest = std::numeric_limits<float>::max();
};

inline constexpr AddendConstants kAddendConstants{};

/// Reads what mask and bias add to scores. Holds its constants: make one before a loop.
class Addends {
 public:
  explicit Addends(const AttentionTask& task) : Addends(task, opaque(&kAddendConstants)) {}

  /// The addends of a row for `count` keys, with kMasked where a key is masked.
  Batch operator()(const AttentionRow& row, std::ptrdiff_t key, int count) const {
    const Batch sum = row.bias ? bias(row.bias + key * bias_stride_, count) : Batch(0.0F);
    if (!row.mask) return sum;
    const std::uint8_t* const mask = row.mask + key * mask_stride_;
    if (mask_stride_ == 1 && count == kLanes) return xsimd::select(are_zero(mask), masked_, sum);
    const Batch attended = load_strided(mask, mask_stride_, count);
    return xsimd::select(attended == Batch(0.0F), masked_, sum);
  }

  Batch bias(const float* bias, int count) const {
    return scaled(bias_stride_ == 1 ? load_some(bias, count) : load_strided(bias, bias_stride_, count));
  }

  /// A finite bias stays finite: the lowest float is a common "never" that must still tell a row of
  /// nothing else apart from an empty one, and infinity minus infinity would be NaN.
  [[nodiscard]] Batch scaled(Batch bias) const {
    const Batch bounded = at_least(at_most(bias * units_, highest_), -highest_);
    return xsimd::select(bias == masked_, bias, bounded);
  }

  /// Does the same as the operator for queries in lanes with biases whose numbers lie side by side: without a branch in
  /// the loop it takes a third of the time.
  template <bool kMask>
  void collect_whole(const AttentionRow* const (&rows)[kLanes], std::ptrdiff_t key, int count, float* addends) const {
    const float* biases[kLanes];
    const std::uint8_t* masks[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      biases[lane] = rows[lane]->bias + key;
      masks[lane] = kMask ? rows[lane]->mask + key : nullptr;
    }
    rows_to_lanes(count, addends, kPanel, [&](int lane, int i, int) {
      const Batch sum = scaled(Batch::load_unaligned(biases[lane] + i));
      return kMask ? xsimd::select(are_zero(masks[lane] + i), masked_, sum) : sum;
    });
  }

  [[nodiscard]] bool lie_side_by_side(const AttentionRow& row) const {
    return (!row.bias || bias_stride_ == 1) && (!row.mask || mask_stride_ == 1);
  }

 private:
  Addends(const AttentionTask& task, const AddendConstants* c)
      : bias_stride_(task.mask.bias_stride),
        mask_stride_(task.mask.mask_stride),
        masked_(c->masked),
        units_(task.score.log2e_scale),
        highest_(c->highest) {}

  std::ptrdiff_t bias_stride_, mask_stride_;
  Batch masked_, units_, highest_;
};

/// Collects the addends of a block, key by key, with queries in lanes.
inline void collect_addends(const Panel& panel, const AttentionTask& task, const KeySpan& keys, float* addends) {
  const Addends addends_of(task);
  const AttentionRow& any = panel.rows[0];
  const int whole = any.bias && addends_of.lie_side_by_side(any) ? keys.count / kLanes * kLanes : 0;
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes;
    float* const target = addends + first_lane;
    const AttentionRow* rows[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) rows[lane] = &panel.row(first_lane + lane);
    if (whole > 0 && rows[0]->mask) {
      addends_of.template collect_whole<true>(rows, keys.first, whole, target);
    } else if (whole > 0) {
      addends_of.template collect_whole<false>(rows, keys.first, whole, target);
    }
    rows_to_lanes(keys.count - whole, target + whole * kPanel, kPanel,
                  [&](int lane, int i, int some) { return addends_of(*rows[lane], keys.first + whole + i, some); });
  }
}

/// What is applied to scores beside key ranges: nothing, numbers that are added line by line, or the bytes of a boolean
/// mask, those of four lines in 32 bits of each lane.
enum class Overlay : std::uint8_t { none, addends, mask_bytes };

inline constexpr int kBytesOfWord = 4;

/// Collects the mask of a block with queries in lanes as Overlay::mask_bytes, transposed four keys at a time.
[[gnu::noinline]] inline void collect_mask_bytes(const Panel& panel, const KeySpan& keys, float* words) {
  constexpr int whole = kLanes * kBytesOfWord;
  for (int first_lane = 0; first_lane < kPanel; first_lane += kLanes) {
    const std::uint8_t* masks[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) masks[lane] = panel.row(first_lane + lane).mask + keys.first;
    const int count = (keys.count + kBytesOfWord - 1) / kBytesOfWord;
    rows_to_lanes(count, words + first_lane, kPanel, [&](int lane, int word, int) {
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

/// The key range of each lane, and the first key of the block.
struct KeyRanges {
  using Keys = xsimd::batch<std::int32_t, Arch>;
  Keys begin, end, first;

  KeyRanges(const Panel& panel, const KeySpan& keys, int first_lane) {
    alignas(kScratchAlignment) std::int32_t numbers[3][kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      const AttentionRow& row = panel.row(first_lane + lane);
      numbers[0][lane] = row.key_begin;
      numbers[1][lane] = row.key_end < keys.end() ? row.key_end : keys.end();
      numbers[2][lane] = keys.key(0, first_lane + lane);
    }
    begin = Keys::load_aligned(numbers[0]);
    end = Keys::load_aligned(numbers[1]);
    first = Keys::load_aligned(numbers[2]);
  }

  /// The lanes that see the key that is `ahead` of their first.
  [[nodiscard]] xsimd::batch_bool<float, Arch> sees(int ahead) const {
    const Keys key = first + Keys(ahead);
    return xsimd::batch_bool_cast<float>((key >= begin) & (key < end));
  }
};

/// Lines [begin, end), which every row sees whole.
struct ClearLines {
  int begin, end;

  ClearLines(const Panel& panel, const KeySpan& keys) : begin(panel.last_begin - keys.first), end(begin) {
    const int lines = keys.lines();
    begin = begin < 0 ? 0 : begin;
    end = panel.first_end - keys.first;
    end = end < lines ? end : lines;
    if (keys.keys_per_line > 1 || begin >= end) begin = end = 0;
  }
};

/// Applies key ranges and an overlay to the scores and raises row_max[panel]. A masked score is replaced, not added to:
/// a NaN in a masked key must not survive.
inline void mask_scores(const Panel& panel, const KeySpan& keys, Overlay overlay, const float* overlaid, float* scores,
                        float* row_max) {
  const Batch masked(*opaque(&kMasked));
  const ClearLines clear(panel, keys);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes;
    const KeyRanges ranges(panel, keys, first_lane);
    Batch highest = Batch::load_aligned(row_max + first_lane);
    const auto mask_lines = [&]<Overlay kOverlay, bool kIsClear>(int begin, int end) {
      for (int j = begin; j < end; ++j) {
        float* const address = scores + j * kPanel + first_lane;
        Batch score = Batch::load_aligned(address);
        if constexpr (kOverlay == Overlay::addends) {
          const Batch extra = Batch::load_aligned(overlaid + j * kPanel + first_lane);
          score = xsimd::select(extra == masked, masked, score + extra);
        } else if constexpr (kOverlay == Overlay::mask_bytes) {
          const Batch word = Batch::load_aligned(overlaid + j / kBytesOfWord * kPanel + first_lane);
          const U32Batch own = xsimd::bitwise_cast<std::uint32_t>(word) & U32Batch(0xFFU << (j % kBytesOfWord * 8));
          score = xsimd::select(xsimd::batch_bool_cast<float>(own == U32Batch(0U)), masked, score);
        }
        if (!kIsClear) score = xsimd::select(ranges.sees(j * keys.keys_per_line), score, masked);
        if (!kIsClear || kOverlay != Overlay::none) score.store_aligned(address);
        highest = at_least(score, highest);
      }
    };
    const auto mask_all = [&]<Overlay kOverlay>() {
      mask_lines.template operator()<kOverlay, false>(0, clear.begin);
      mask_lines.template operator()<kOverlay, true>(clear.begin, clear.end);
      mask_lines.template operator()<kOverlay, false>(clear.end, keys.lines());
    };
    switch (overlay) {
      case Overlay::none:
        mask_all.template operator()<Overlay::none>();
        break;
      case Overlay::addends:
        mask_all.template operator()<Overlay::addends>();
        break;
      case Overlay::mask_bytes:
        mask_all.template operator()<Overlay::mask_bytes>();
        break;
    }
    highest.store_aligned(row_max + first_lane);
  }
}

/// Finds whether any of `count` bytes is not zero, and whether any is. The loop has no early exit: it would cost more
/// than it saves.
[[gnu::noinline]] inline void scan_mask(const std::uint8_t* mask, std::ptrdiff_t stride, int count, bool& any_attended,
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
inline KeySpan keys_with_addends(const AttentionTask& task, KeySpan keys) {
  const int count = task.mask.addend_length - keys.first;
  if (count < keys.count) keys.count = count > 0 ? count : 0;
  return keys;
}

/// Whether the boolean masks of all rows leave a block full, partial or empty. Masks that neighbours share are scanned
/// once.
inline BlockMask find_mask(const Panel& panel, const AttentionTask& task, const KeySpan& all_keys) {
  const KeySpan keys = keys_with_addends(task, all_keys);
  bool any_attended = false;
  bool any_masked = false;
  const std::uint8_t* before = nullptr;
  for (int lane = 0; lane < panel.row_count; ++lane) {
    const std::uint8_t* const mask = panel.rows[lane].mask;
    if (mask == before) continue;
    before = mask;
    scan_mask(mask + keys.first * task.mask.mask_stride, task.mask.mask_stride, keys.count, any_attended, any_masked);
    if (any_attended && any_masked) return BlockMask::partial;
  }
  return any_masked ? BlockMask::empty : BlockMask::full;
}

}  // namespace heed::kernels
