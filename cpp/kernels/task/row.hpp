// One query of a task: what its kernel reads, and where its results go.
#pragma once

#include <cstdint>

#include "kernels/memory/kv_rows.hpp"

namespace heed::kernels {

/// How the scores of a row become weights once all of them are known, times `factor` in the end.
struct RowStats {
  float row_max;  // in the backward pass of a softmax lse * log2 e: see BackwardLanes
  float factor;
  float shift;
  // With top-k: the lowest score that is kept, and the last key that has it.
  float threshold;
  std::int32_t last_kept;
};

/// What makes the scores of a query, and which keys it sees. A null pointer leaves a field out.
struct RowInputs {
  FloatRow query;            // head_dim numbers
  float query_factor;        // multiplies the query before anything else
  float row_operand;         // of the score transform
  const std::uint8_t* mask;  // of key 0; nonzero = attend
  const float* bias;         // of key 0
  const std::uint8_t* keep;  // of the first block of keys; 0 = the row sees none of the block
  float position;            // among the keys, for ALiBi
  float alibi_slope;
  float index[3];  // batch entry, query head and query of the call, for expressions
  float sink;      // a logit of the denominator; -infinity: none
  std::uint32_t dropout_stream;
  std::int32_t key_begin;  // the row sees keys [key_begin, key_end) ...
  std::int32_t key_end;    // ... less those that mask or bias take away
};

/// Where the results of a query go. A null pointer leaves a result out.
struct RowOutputs {
  float* output;   // value_dim numbers
  float* weights;  // key_length numbers
  float* scores;   // key_length numbers, at the stage of the score rule
  float* log_sum_exp;
  float* entropy;
  RowStats* stats;      // attend() writes it, add_mean_weights() reads it
  float* mean_weights;  // key_length numbers that add_mean_weights() adds to
};

struct AttentionRow : RowInputs, RowOutputs {};

}  // namespace heed::kernels
