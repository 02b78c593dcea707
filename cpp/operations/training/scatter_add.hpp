// The backward pass of an embedding: rows are added to the rows of a table that they came from.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output = addend, where row indices[i] also has row i of `rows`, added in the order of i. An absent addend is zeros.
/// Nothing may overlap. Fails without writing when an input breaks a rule.
Status scatter_add(const Rows<const float>& rows, const std::int32_t* indices, const Rows<const float>& addend,
                   const Rows<float>& output, Executor& executor, const StopFlag* stop = nullptr);

struct ScatterAddCall {
  CallHeader header;
  PackedView rows;
  std::uint32_t indices;  // address of one int32 a row
  PackedView addend;
  PackedView output;

  HEED_FIELDS(header, rows, indices, addend, output)
};

Status run(const ScatterAddCall& call, Executor& executor);

}  // namespace heed
