// Rows of a table by their numbers: an embedding.
#pragma once

#include <cstdint>

#include "heed/rows.hpp"
#include "heed/status.hpp"

namespace heed {

/// output[i] = table[indices[i]]. If the table lacks an index, the status is StatusCode::option and nothing is written.
Status gather_rows(const Rows<const float>& table, const std::int32_t* indices, const Rows<float>& output);

}  // namespace heed
