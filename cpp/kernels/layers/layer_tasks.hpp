// What the kernels of layers are given. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/vocabulary.hpp"

namespace heed::kernels {

/// Rows that repeat after `count`; null: absent.
struct RepeatedRows {
  const float* numbers;
  std::ptrdiff_t stride;
  std::ptrdiff_t count;

  [[nodiscard]] const float* row(std::ptrdiff_t index) const {
    return numbers == nullptr ? nullptr : numbers + index % count * stride;
  }
};

/// target = activation(source + bias) * factor + addend, number by number; source may be target.
struct PointwiseTask {
  const float* source;
  std::ptrdiff_t source_stride;
  float* target;
  std::ptrdiff_t target_stride;
  std::ptrdiff_t first_row;  // of the call, for what repeats
  int row_count;
  int length;
  Activation activation;
  const float* bias;
  RepeatedRows factor;
  RepeatedRows addend;
};

struct NormTask {
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
};

/// Some numbers of a state, one step on: each pointer is at the first of `length`.
struct GruStepTask {
  const float* input[3];   // r, z, n of the step's input
  const float* hidden[3];  // those of the state's product
  const float* bias[3];    // or null
  const float* state;
  float* next;
  int length;
};

}  // namespace heed::kernels
