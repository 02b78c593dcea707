// What the rotary kernel is given: all heads at one position. Plain data, the same for every architecture.
#pragma once

#include "kernels/attention_block.hpp"

namespace heed::kernels {

struct RopeBlock {
  Numbers input;                // head_dim of them
  std::ptrdiff_t input_stride;  // from one head to the next
  float* output;
  std::ptrdiff_t output_stride;
  int heads;
  int head_dim;
  int pairs;
  bool interleaved;
  // rope_table_floats(pairs) each, aligned to kScratchAlignment. Of halves one a pair; interleaved one a number, and
  // the sine of a pair's first number negative.
  const float* cosines;
  const float* sines;
};

/// Room for a table of either form up to whole vectors.
constexpr std::int64_t rope_table_floats(std::int64_t pairs) { return round_up_to(2 * pairs, 16); }

}  // namespace heed::kernels
