// The views of the call of attention, beside which its options lie as they are taken, for the forward and the backward
// pass. It is inlined: as functions it was 80 bytes more of what a page loads.
#pragma once

#include "heed/attention.hpp"
#include "operations/attention/attention_call.hpp"

namespace heed {

/// Unpacks keys or values, which lie where they were put or in the pages of a cache, where int8 has tiles of its own
/// for either.
inline FloatView unpack_rows(const AttentionCall& call, const PackedView& packed, std::int32_t dtype, DType bytes,
                             std::int32_t scales) {
  FloatView view = unpack(packed, dtype);
  if (is_int8(view.dtype)) view.dtype = bytes;
  if (call.pages.pages == 0) return view;
  view.data = nullptr;
  view.pages = {.table = pointer<const void* const>(call.pages.pages),
                .per_batch = call.pages.per_batch,
                .rows = call.pages.page_rows,
                .first = call.pages.first_row};
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

template <typename T>
[[gnu::always_inline]] inline ScoreParameters<TensorView<T>> unpack_parameters(const ScoreParameters<PackedView>& of) {
  return {unpack<T>(of.w), unpack<T>(of.wq), unpack<T>(of.wk),
          unpack<T>(of.b), unpack<T>(of.v),  unpack<T>(of.bandwidth)};
}

[[gnu::always_inline]] inline AttentionOptions unpack_options(const AttentionCall& call) {
  AttentionOptions options{call.score_options, call.mask_options, call.weight_options};
  options.score = {unpack_parameters<const float>(call.score), call.score_kind};
  options.scale = call.scale;
  options.blocks = {
      .keep = unpack<const std::uint8_t>(call.keep), .queries = call.block_queries, .keys = call.block_keys};
  options.expressions = call.expressions;
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
