// The backward pass of an embedding: rows are added to the rows of a table that they came from.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output = addend, where row indices[i] also has row i of `rows`, added in the order of i. An absent addend is zeros.
struct ScatterAddCall {
  Rows<const float> rows;
  const std::int32_t* indices;
  Rows<const float> addend = {};
  Rows<float> output;

  HEED_FIELDS(rows, indices, addend, output)
};

/// Nothing may overlap. Fails without writing when an input breaks a rule.
Status run(const ScatterAddCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
