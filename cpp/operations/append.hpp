// Appends keys and values to the pages of a KV cache.
#pragma once

#include "heed/status.hpp"
#include "operations/common/call.hpp"

namespace heed {

/// New rows of K or V, [B, H, n, D], and the same rows in the pages of the cache.
struct AppendedRows {
  PackedView rows;
  PackedView cached;    // its address is an offset in a page, in bytes
  std::int32_t scales;  // bytes from there to what is beside the rows: see FloatView
  std::int32_t type;    // DType of the new rows
};

struct AppendCall {
  CallHeader header;
  AppendedRows key;
  AppendedRows value;
  PackedPages pages;  // the new rows are the first
  std::int32_t page_type;
  std::uint32_t first_rows;  // for each batch entry, in place of that of the pages; 0: absent

  HEED_FIELDS(header, key.rows, key.cached, key.scales, key.type, value.rows, value.cached, value.scales, value.type,
              pages, page_type, first_rows)
};

/// Computed on one thread: writing takes little time beside the attention that follows.
Status run(const AppendCall& call, Executor& executor);

}  // namespace heed
