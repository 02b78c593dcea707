// The sum of rows, which is the gradient of a bias that all of them have.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output[0, i] = addend[0, i] + the sum of rows at i, in their order. An absent addend is zeros. Nothing may overlap.
/// Fails without writing when an input breaks a rule.
Status row_sums(const Rows<const float>& rows, const Rows<const float>& addend, const Rows<float>& output,
                Executor& executor, const StopFlag* stop = nullptr);

struct RowSumsCall {
  CallHeader header;
  PackedView rows;
  PackedView addend;
  PackedView output;

  HEED_FIELDS(header, rows, addend, output)
};

Status run(const RowSumsCall& call, Executor& executor);

}  // namespace heed
