// Dropout: takes weights away after the softmax has counted them. What is kept grows by block.dropout_factor,
// which the results are multiplied with at the end.
#pragma once

#include "kernels/dropout_hash.hpp"
#include "kernels/key_lines.hpp"
#include "kernels/panel.hpp"

namespace heed::kernels {

template <class Arch>
using Words = xsimd::batch<std::uint32_t, Arch>;

/// The weights, with exact zeros where `stream` and `key`, mixed, say so.
template <class Arch>
inline Batch<Arch> drop(Batch<Arch> weights, Words<Arch> stream, Words<Arch> key, Words<Arch> limit) {
  const auto is_kept = mix_bits(stream ^ key) > limit;
  return xsimd::select(xsimd::batch_bool_cast<float>(is_kept), weights, Batch<Arch>(0.0F));
}

/// Of weights[lines][panel].
template <class Arch>
inline void drop_weights(const Panel& panel, const AttentionBlock& block, const KeyLines& keys, float* weights) {
  alignas(kScratchAlignment) std::uint32_t streams[kPanel<Arch>];
  alignas(kScratchAlignment) std::uint32_t firsts[kPanel<Arch>];
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    streams[lane] = panel.row(lane).dropout_stream;
    firsts[lane] = dropout_key(static_cast<std::uint32_t>(keys.key(0, lane)));
  }
  const Words<Arch> limit(block.dropout_limit);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    const Words<Arch> stream = Words<Arch>::load_aligned(streams + first_lane);
    const Words<Arch> first = Words<Arch>::load_aligned(firsts + first_lane);
    for (int j = 0; j < keys.lines(); ++j) {
      float* const place = weights + j * kPanel<Arch> + first_lane;
      const Words<Arch> further(dropout_key(static_cast<std::uint32_t>(j * keys.per_line)));
      drop<Arch>(Batch<Arch>::load_aligned(place), stream, first + further, limit).store_aligned(place);
    }
  }
}

/// Of one row's weights, a vector's of keys from first_key on.
template <class Arch>
inline Batch<Arch> drop_keys(Batch<Arch> weights, const AttentionRow& row, const AttentionBlock& block, int first_key) {
  alignas(kScratchAlignment) std::uint32_t keys[kLanes<Arch>];
  for (int i = 0; i < kLanes<Arch>; ++i) keys[i] = dropout_key(static_cast<std::uint32_t>(first_key + i));
  return drop<Arch>(weights, Words<Arch>(row.dropout_stream), Words<Arch>::load_aligned(keys),
                    Words<Arch>(block.dropout_limit));
}

}  // namespace heed::kernels
