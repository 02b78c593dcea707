// Rows of a table by their numbers: an embedding.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output[i] = table[indices[i]].
struct GatherCall {
  Rows<const float> table;
  const std::int32_t* indices;  // one a row of the output
  Rows<float> output;

  HEED_FIELDS(table, indices, output)
};

/// If the table lacks an index, the status is StatusCode::option and nothing is written.
Status run(const GatherCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
