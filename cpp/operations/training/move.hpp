// Numbers in another order: axes turned, repeated, cut and padded; and rows side by side.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output[i] is the number of `input` that its indices lead to. Each axis, the last one fastest, has four words: its
/// size, the step from one index to the next in `input`, and the first index and the end of those that lead to a
/// number; all others give 0.
struct MoveCall {
  Rows<const float> input;  // one row
  const std::int32_t* axes;
  Index axis_count = 0;
  Index start = 0;     // where indices of 0 lead
  Index first = 0;     // the place of the first output in the whole call
  Rows<float> output;  // one row

  HEED_FIELDS(input, axes, axis_count, start, first, output)
};

/// Nothing may overlap. Fails without writing when an input breaks a rule.
Status run(const MoveCall& call, Executor& executor, const StopFlag* stop = nullptr);

/// Each row of the output has those of up to four inputs one behind the other.
struct JoinCall {
  Rows<const float> a;
  Rows<const float> b = {};
  Rows<const float> c = {};
  Rows<const float> d = {};
  Rows<float> output;

  HEED_FIELDS(a, b, c, d, output)
};

/// Likewise.
Status run(const JoinCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
