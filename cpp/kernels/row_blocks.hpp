// What the kernels of layers are given. Plain data, the same for every architecture.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heed::kernels {

/// Rows times a packed matrix: panels[panel][depth][kPanel], zeros beyond the last column.
struct MultiplyBlock {
  const float* rows;
  std::ptrdiff_t row_stride;
  int row_count;
  bool is_single;  // the call has one row in all
  const float* panels;
  int depth;
  int columns;  // of the panels, the last one perhaps in part
  float* sums;  // [row_count] rows of `columns`, sum_stride apart
  std::ptrdiff_t sum_stride;
  float* last_panel;  // [row_count][kPanel], aligned: scratch memory for the one that is not whole
};

enum class Bend : std::uint8_t { none, relu, gelu, gelu_tanh, silu, tanh, sigmoid };

/// Rows that repeat after `count`; null: absent.
struct RepeatedRows {
  const float* numbers;
  std::ptrdiff_t stride;
  std::ptrdiff_t count;

  [[nodiscard]] const float* row(std::ptrdiff_t index) const {
    return numbers == nullptr ? nullptr : numbers + index % count * stride;
  }
};

/// target = bend(source + bias) * factor + addend, number by number; source may be target.
struct FinishBlock {
  const float* source;
  std::ptrdiff_t source_stride;
  float* target;
  std::ptrdiff_t target_stride;
  std::ptrdiff_t first_row;  // of the call, for what repeats
  int row_count;
  int length;
  Bend bend;
  const float* bias;
  RepeatedRows factor;
  RepeatedRows addend;
};

struct NormBlock {
  const float* source;
  std::ptrdiff_t source_stride;
  float* target;
  std::ptrdiff_t target_stride;
  int row_count;
  int length;
  bool is_centred;
  float epsilon;
  const float* weight;
  const float* bias;
  float* mean;               // one a row, or null
  float* inverse_deviation;  // likewise
};

/// Some numbers of a state, one step on: each pointer at the first of `length`.
struct GateBlock {
  const float* input[3];   // r, z, n of the step's input
  const float* hidden[3];  // those of the state's product
  const float* bias[3];    // or null
  const float* state;
  float* next;
  int length;
};

}  // namespace heed::kernels
