// Rows of a table by their numbers: an embedding.
#pragma once

#include <cstdint>

#include "heed/rows.hpp"
#include "heed/status.hpp"

namespace heed {

/// output[i] = table[indices[i]]. An index that the table does not have is a StatusCode::option; nothing is written
/// then.
Status gather_rows(const Rows<const float>& table, const std::int32_t* indices, const Rows<float>& output);

}  // namespace heed
