// The packed call of attention.
#pragma once

#include "heed/attention_options.hpp"
#include "heed/expressions.hpp"
#include "heed/score.hpp"
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
  ScoreParameters<PackedView> score;
  PackedPages pages;  // if any, the addresses of key and value are offsets in a page, in bytes
  std::int32_t key_scales;
  std::int32_t value_scales;
  ScoreOptions score_options;
  WeightOptions weight_options;
  MaskOptions mask_options;
  Expressions expressions;
  float scale;
  ScoreKind score_kind;
  std::int32_t block_queries;
  std::int32_t block_keys;
  ScoreStage score_stage;
  std::int32_t query_type;  // DType; i8_keys for int8 of any kind
  std::int32_t key_type;
  std::int32_t value_type;
  std::int32_t weight_rows_begin;
  std::int32_t weight_rows_end;  // -1: all rows
  std::int32_t slice_of[6];      // SliceOf in its order; a batch of 0: the call is whole

  HEED_FIELDS(header, query, key, value, mask, bias, keep, output, weights, lse, scores, entropy, mean_weights, score.w,
              score.wq, score.wk, score.b, score.v, score.bandwidth, pages, key_scales, value_scales, score_options,
              weight_options, mask_options, expressions.words, expressions.word_count, expressions.numbers,
              expressions.number_count, scale, score_kind, block_queries, block_keys, score_stage, query_type, key_type,
              value_type, weight_rows_begin, weight_rows_end, slice_of)
};

Status run(const AttentionCall& call, Executor& executor);

}  // namespace heed
