// The packed call of attention.
#pragma once

#include "heed/status.hpp"
#include "operations/common/call.hpp"

namespace heed {

struct AttentionCall {
  CallHeader header;
  PackedView query;
  PackedView key;
  PackedView value;
  PackedView mask;
  PackedView bias;
  PackedView keep;  // of blocks
  PackedView output;
  PackedView weights;
  PackedView lse;
  PackedView scores;
  PackedView entropy;
  PackedView mean_weights;
  PackedView score_w;  // parameters of the score function
  PackedView score_wq;
  PackedView score_wk;
  PackedView score_b;
  PackedView score_v;
  PackedView score_bandwidth;
  std::uint32_t
      pages;  // address of the page table; then the addresses of key and value are offsets in a page, in bytes
  std::int32_t pages_per_batch;
  std::int32_t page_rows;
  std::int32_t first_row;
  std::int32_t key_scales;
  std::int32_t value_scales;
  std::uint32_t query_lengths;  // addresses of one int32 a batch entry
  std::uint32_t key_lengths;
  std::uint32_t query_offsets;  // or a sequence
  std::uint32_t query_starts;   // addresses of one int32 a sequence, and one
  std::uint32_t key_starts;
  std::uint32_t alibi_slopes;  // addresses of one float a query head
  std::uint32_t sinks;
  std::uint32_t expressions;  // address of the words of heed::Expressions, and how many
  std::uint32_t expression_words;
  std::uint32_t expression_tables;  // address of their numbers, likewise
  std::uint32_t expression_numbers;
  float scale;
  float softcap;    // 0: none
  float dropout_p;  // 0: none
  std::uint32_t dropout_seed;
  Enumerator<ScoreKind> score;
  Enumerator<Normalizer> normalizer;
  std::int32_t top_k;  // 0: all
  Enumerator<Causal> causal;
  std::int32_t window_left;  // -1: open
  std::int32_t window_right;
  std::int32_t block_queries;
  std::int32_t block_keys;
  Enumerator<ScoreStage> score_stage;
  std::int32_t query_type;  // DType; i8_keys for int8 of any kind
  std::int32_t key_type;
  std::int32_t value_type;
  std::int32_t sequences;
  std::int32_t weight_rows_begin;
  std::int32_t weight_rows_end;  // -1: all rows
  std::int32_t slice_of[6];      // SliceOf in its order; a batch of 0: the call is whole

  HEED_FIELDS(header, query, key, value, mask, bias, keep, output, weights, lse, scores, entropy, mean_weights, score_w,
              score_wq, score_wk, score_b, score_v, score_bandwidth, pages, pages_per_batch, page_rows, first_row,
              key_scales, value_scales, query_lengths, key_lengths, query_offsets, query_starts, key_starts,
              alibi_slopes, sinks, expressions, expression_words, expression_tables, expression_numbers, scale, softcap,
              dropout_p, dropout_seed, score, normalizer, top_k, causal, window_left, window_right, block_queries,
              block_keys, score_stage, query_type, key_type, value_type, sequences, weight_rows_begin, weight_rows_end,
              slice_of)
};

Status run(const AttentionCall& call, Executor& executor);

}  // namespace heed
