// Unpacks and runs calls of attention.
#include "bindings/attention_call.hpp"
#include "bindings/run_call.hpp"
#include "heed/attention.hpp"

namespace {

using heed::bindings::AttentionCall;
using heed::bindings::numbers;
using heed::bindings::unpack;

constexpr std::int32_t kOpen = -1;  // a side of the window, or a range of rows, without an end

/// Unpacks keys or values, which lie where they were put or in the pages of a cache, where int8 has tiles of its own
/// for either.
heed::FloatView unpack_rows(const AttentionCall& call, const heed::bindings::PackedView& packed, std::int32_t dtype,
                            heed::DType bytes, std::int32_t scales) {
  heed::FloatView view = unpack(packed, dtype);
  if (heed::is_int8(view.dtype)) view.dtype = bytes;
  if (call.pages == 0) return view;
  view.data = nullptr;
  view.pages = {.table = numbers<const void*>(call.pages),
                .per_batch = call.pages_per_batch,
                .rows = call.page_size,
                .first = call.first_row,
                .is_finite = call.pages_finite != 0};
  view.offset = packed.address;
  view.scales = scales;
  return view;
}

heed::AttentionInputs unpack_inputs(const AttentionCall& call) {
  return {.query = unpack(call.query, call.query_type),
          .key = unpack_rows(call, call.key, call.key_type, heed::DType::i8_keys, call.key_scales),
          .value = unpack_rows(call, call.value, call.value_type, heed::DType::i8_values, call.value_scales),
          .mask = unpack<const std::uint8_t>(call.mask),
          .bias = unpack<const float>(call.bias)};
}

heed::ScoreFunction unpack_score(const AttentionCall& call) {
  return {.kind = static_cast<heed::ScoreKind>(call.score),
          .w = unpack<const float>(call.score_w),
          .wq = unpack<const float>(call.score_wq),
          .wk = unpack<const float>(call.score_wk),
          .b = unpack<const float>(call.score_b),
          .v = unpack<const float>(call.score_v),
          .bandwidth = unpack<const float>(call.score_bandwidth)};
}

heed::AttentionOptions unpack_options(const AttentionCall& call) {
  heed::AttentionOptions options;
  options.score = unpack_score(call);
  options.normalizer = static_cast<heed::Normalizer>(call.normalizer);
  if (call.top_k != 0) options.top_k = call.top_k;
  options.scale = call.scale;
  if (call.softcap != 0.0F) options.softcap = call.softcap;
  if (call.dropout_p != 0.0F) options.dropout = heed::Dropout{.p = call.dropout_p, .seed = call.dropout_seed};
  options.causal = static_cast<heed::Causal>(call.causal);
  if (call.window_left != kOpen) options.window.left = call.window_left;
  if (call.window_right != kOpen) options.window.right = call.window_right;
  options.blocks = {
      .keep = unpack<const std::uint8_t>(call.keep), .queries = call.block_queries, .keys = call.block_keys};
  options.query_lengths = numbers<std::int32_t>(call.query_lengths);
  options.key_lengths = numbers<std::int32_t>(call.key_lengths);
  options.query_offsets = numbers<std::int32_t>(call.query_offsets);
  options.sequences = {.query_starts = numbers<std::int32_t>(call.query_starts),
                       .key_starts = numbers<std::int32_t>(call.key_starts),
                       .count = call.sequences};
  options.alibi_slopes = numbers<float>(call.alibi_slopes);
  options.sinks = numbers<float>(call.sinks);
  options.expressions = {.words = numbers<std::int32_t>(call.expressions),
                         .word_count = call.expression_words,
                         .numbers = numbers<float>(call.expression_tables),
                         .number_count = call.expression_numbers};
  if (const auto [batch, head, query, batches, heads, queries] = call.slice_of; batches > 0) {
    options.slice_of = heed::SliceOf{.first_batch = batch,
                                     .first_head = head,
                                     .first_query = query,
                                     .batch = batches,
                                     .query_heads = heads,
                                     .query_length = queries};
  }
  options.stop = heed::bindings::stop_of(call.header);
  return options;
}

heed::AttentionOutputs unpack_outputs(const AttentionCall& call) {
  heed::AttentionOutputs outputs{.output = unpack<float>(call.output),
                                 .weights = unpack<float>(call.weights),
                                 .log_sum_exp = unpack<float>(call.lse),
                                 .scores = unpack<float>(call.scores),
                                 .entropy = unpack<float>(call.entropy),
                                 .mean_weights = unpack<float>(call.mean_weights),
                                 .score_stage = static_cast<heed::ScoreStage>(call.score_stage)};
  if (call.weight_rows_end != kOpen) outputs.weight_rows = {call.weight_rows_begin, call.weight_rows_end};
  return outputs;
}

}  // namespace

heed::Status heed::bindings::run_attention(std::uint32_t address, heed::Executor& executor) {
  const auto& call = *reinterpret_cast<const AttentionCall*>(address);
  return heed::attention(unpack_inputs(call), unpack_options(call), unpack_outputs(call), executor);
}
