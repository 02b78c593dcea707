// The sum of rows, which is the gradient of a bias that all of them have, or the largest numbers of each column.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output[0, i] = addend[0, i] + the sum of rows at i, in their order. An absent addend is zeros. With `is_maximum` it
/// is the largest number of rows at i: NaN where one is NaN, -infinity where there is none.
struct RowSumsCall {
  Rows<const float> rows;
  Rows<const float> addend = {};
  Rows<float> output;
  bool is_maximum = false;

  HEED_FIELDS(rows, addend, output, is_maximum)
};

/// Nothing may overlap. Fails without writing when an input breaks a rule.
Status run(const RowSumsCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
