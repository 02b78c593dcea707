// The sum of rows, which is the gradient of a bias that all of them have.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output[0, i] = addend[0, i] + the sum of rows at i, in their order. An absent addend is zeros.
struct RowSumsCall {
  Rows<const float> rows;
  Rows<const float> addend = {};
  Rows<float> output;

  HEED_FIELDS(rows, addend, output)
};

/// Nothing may overlap. Fails without writing when an input breaks a rule.
Status run(const RowSumsCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
