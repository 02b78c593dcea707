// Dropout zeroes weights after the softmax has counted them. What is kept grows by the dropout_factor, which the
// results are multiplied with at the end.
#pragma once

#include "kernels/softmax/dropout_hash.hpp"
#include "kernels/task/key_span.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// The weights, with exact zeros where the hash of `stream` and `key` says so.
inline Batch drop(Batch weights, U32Batch stream, U32Batch key, U32Batch limit) {
  const auto is_kept = mix_bits(stream ^ key) > limit;
  return xsimd::select(xsimd::batch_bool_cast<float>(is_kept), weights, Batch(0.0F));
}

/// Drops weights[lines][panel].
inline void drop_weights(const Panel& panel, const AttentionTask& task, const KeySpan& keys, float* weights) {
  alignas(kScratchAlignment) std::uint32_t streams[kPanel];
  alignas(kScratchAlignment) std::uint32_t firsts[kPanel];
  for (int lane = 0; lane < kPanel; ++lane) {
    streams[lane] = panel.row(lane).dropout_stream;
    firsts[lane] = dropout_key(static_cast<std::uint32_t>(keys.key(0, lane)));
  }
  const U32Batch limit(task.weight.dropout_limit);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes;
    const U32Batch stream = U32Batch::load_aligned(streams + first_lane);
    const U32Batch first = U32Batch::load_aligned(firsts + first_lane);
    for (int j = 0; j < keys.lines(); ++j) {
      float* const address = weights + j * kPanel + first_lane;
      const U32Batch further(dropout_key(static_cast<std::uint32_t>(j * keys.keys_per_line)));
      drop(Batch::load_aligned(address), stream, first + further, limit).store_aligned(address);
    }
  }
}

/// Drops weights of one row, a vector of keys from first_key on.
inline Batch drop_keys(Batch weights, const AttentionRow& row, const AttentionTask& task, int first_key) {
  alignas(kScratchAlignment) std::uint32_t keys[kLanes];
  for (int i = 0; i < kLanes; ++i) keys[i] = dropout_key(static_cast<std::uint32_t>(first_key + i));
  return drop(weights, U32Batch(row.dropout_stream), U32Batch::load_aligned(keys), U32Batch(task.weight.dropout_limit));
}

}  // namespace heed::kernels
