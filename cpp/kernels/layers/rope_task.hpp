// What the rotary kernel is given: all heads at one position. Plain data.
#pragma once

#include "heed/rounding.hpp"
#include "kernels/memory/kv_rows.hpp"

namespace heed::kernels {

struct RopeTask {
  FloatRow input;               // head_dim of them
  std::ptrdiff_t input_stride;  // from one head to the next
  float* output;
  std::ptrdiff_t output_stride;
  int heads;
  int head_dim;
  int pairs;
  bool interleaved;
  // Tables of rope_table_floats(pairs), aligned to kScratchAlignment. They have a number a pair; interleaved a number a
  // number, and the sine of the first number of a pair is negative.
  const float* cosines;
  const float* sines;
};

/// Room for a table of either form up to whole vectors.
constexpr std::int64_t rope_table_floats(std::int64_t pairs) { return round_up(2 * pairs, 16); }

}  // namespace heed::kernels
