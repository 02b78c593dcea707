// The packed parameters of one attention call as JavaScript writes them into the heap:
// 32-bit words, no padding. attention_call_layout.cpp tells JavaScript where each lies.
#pragma once

#include <cstdint>

#include "bindings/call_header.hpp"
#include "bindings/packed_view.hpp"

namespace heed::bindings {

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
  std::int32_t page_size;
  std::int32_t first_row;
  std::int32_t key_scales;
  std::int32_t value_scales;
  std::int32_t pages_finite;    // they are known to hold neither NaN nor infinity
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
  std::int32_t score;       // ScoreKind
  std::int32_t normalizer;  // Normalizer
  std::int32_t top_k;       // 0: all
  std::int32_t causal;
  std::int32_t window_left;  // -1: open
  std::int32_t window_right;
  std::int32_t block_queries;
  std::int32_t block_keys;
  std::int32_t score_stage;
  std::int32_t query_type;  // DType; i8_keys for int8 of any kind
  std::int32_t key_type;
  std::int32_t value_type;
  std::int32_t sequences;
  std::int32_t weight_rows_begin;
  std::int32_t weight_rows_end;  // -1: all rows
  std::int32_t slice_of[6];      // SliceOf in its order; a batch of 0: the call is whole
};

}  // namespace heed::bindings
