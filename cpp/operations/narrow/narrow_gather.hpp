// Rows of a packed table by their numbers, in f32.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output[i] = table[indices[i]], exactly as it was stored.
struct NarrowGatherCall {
  WeightFormat format = WeightFormat::int8;
  const float* table = nullptr;  // made by PackNarrowCall
  Index count = 0;               // of its rows
  const std::int32_t* indices = nullptr;
  Rows<float> output;

  HEED_FIELDS(format, table, count, indices, output)
};

/// If the table lacks an index, the status is StatusCode::option and nothing is written.
Status run(const NarrowGatherCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
