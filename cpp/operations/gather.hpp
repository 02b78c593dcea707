// Rows of a table by their numbers: an embedding.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output[i] = table[indices[i]]. If the table lacks an index, the status is StatusCode::option and nothing is written.
Status gather_rows(const Rows<const float>& table, const std::int32_t* indices, const Rows<float>& output);

struct GatherCall {
  CallHeader header;
  PackedView table;
  std::uint32_t indices;  // address of one int32 a row
  PackedView output;

  HEED_FIELDS(header, table, indices, output)
};

Status run(const GatherCall& call, Executor& executor);

}  // namespace heed
