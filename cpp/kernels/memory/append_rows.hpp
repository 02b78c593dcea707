// Writes new rows of K or V to the pages of a cache: as f32, rounded to f16, or quantized to int8.
#pragma once

#include "kernels/memory/kv_rows.hpp"

namespace heed::kernels {

/// Writes `count` rows of a head to rows 0 and on of `pages`. f16 pages remember that a row is not finite; int8 takes
/// no such row, and it returns false.
bool append_rows(const KvRows& rows, const KvRows& pages, int count, int dim);

}  // namespace heed::kernels
