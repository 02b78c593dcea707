// What the call of attention says of inputs and options, for the forward and the backward pass. It is inlined: as
// functions it was 80 bytes more of what a page loads.
#pragma once

#include "heed/attention.hpp"
#include "operations/attention/attention_call.hpp"

namespace heed {

inline constexpr std::int32_t kOpen = -1;  // a side of the window, or a range of rows, without an end

/// Unpacks keys or values, which lie where they were put or in the pages of a cache, where int8 has tiles of its own
/// for either.
inline FloatView unpack_rows(const AttentionCall& call, const PackedView& packed, std::int32_t dtype, DType bytes,
                             std::int32_t scales) {
  FloatView view = unpack(packed, dtype);
  if (is_int8(view.dtype)) view.dtype = bytes;
  if (call.pages == 0) return view;
  view.data = nullptr;
  view.pages = {.table = pointer<const void* const>(call.pages),
                .per_batch = call.pages_per_batch,
                .rows = call.page_rows,
                .first = call.first_row};
  view.offset = packed.address;
  view.scales = scales;
  return view;
}

[[gnu::always_inline]] inline AttentionInputs unpack_inputs(const AttentionCall& call) {
  return {.query = unpack(call.query, call.query_type),
          .key = unpack_rows(call, call.key, call.key_type, DType::i8_keys, call.key_scales),
          .value = unpack_rows(call, call.value, call.value_type, DType::i8_values, call.value_scales),
          .mask = unpack<const std::uint8_t>(call.mask),
          .bias = unpack<const float>(call.bias)};
}

[[gnu::always_inline]] inline ScoreFunction unpack_score(const AttentionCall& call) {
  return {.kind = call.score,
          .w = unpack<const float>(call.score_w),
          .wq = unpack<const float>(call.score_wq),
          .wk = unpack<const float>(call.score_wk),
          .b = unpack<const float>(call.score_b),
          .v = unpack<const float>(call.score_v),
          .bandwidth = unpack<const float>(call.score_bandwidth)};
}

[[gnu::always_inline]] inline AttentionOptions unpack_options(const AttentionCall& call) {
  AttentionOptions options;
  options.score = unpack_score(call);
  options.normalizer = call.normalizer;
  if (call.top_k != 0) options.top_k = call.top_k;
  options.scale = call.scale;
  if (call.softcap != 0.0F) options.softcap = call.softcap;
  if (call.dropout_p != 0.0F) options.dropout = Dropout{.p = call.dropout_p, .seed = call.dropout_seed};
  options.causal = call.causal;
  if (call.window_left != kOpen) options.window.left = call.window_left;
  if (call.window_right != kOpen) options.window.right = call.window_right;
  options.blocks = {
      .keep = unpack<const std::uint8_t>(call.keep), .queries = call.block_queries, .keys = call.block_keys};
  options.query_lengths = pointer<const std::int32_t>(call.query_lengths);
  options.key_lengths = pointer<const std::int32_t>(call.key_lengths);
  options.query_offsets = pointer<const std::int32_t>(call.query_offsets);
  options.sequences = {.query_starts = pointer<const std::int32_t>(call.query_starts),
                       .key_starts = pointer<const std::int32_t>(call.key_starts),
                       .count = call.sequences};
  options.alibi_slopes = pointer<const float>(call.alibi_slopes);
  options.sinks = pointer<const float>(call.sinks);
  options.expressions = {.words = pointer<const std::int32_t>(call.expressions),
                         .word_count = call.expression_words,
                         .numbers = pointer<const float>(call.expression_tables),
                         .number_count = call.expression_numbers};
  if (const auto [batch, head, query, batches, heads, queries] = call.slice_of; batches > 0) {
    options.slice_of = SliceOf{.first_batch = batch,
                               .first_head = head,
                               .first_query = query,
                               .batch = batches,
                               .query_heads = heads,
                               .query_length = queries};
  }
  options.stop = stop_of(call.header);
  return options;
}

}  // namespace heed
