// Appends keys and values to the pages of a KV cache.
#pragma once

#include "heed/status.hpp"
#include "operations/common/call.hpp"

namespace heed {

/// K, or V, of one head in a page.
struct PagePart {
  Index offset;  // bytes from the start of the head
  Index width;   // numbers from one row to the next
  // Bytes from the first number to what is beside them. For int8: the scales of the rows. For f16: a word that is not 0
  // if some row of the page is NaN or infinite.
  Index scales;
};

/// A page holds all heads, one after the other.
struct PageLayout {
  DType dtype;  // i8_keys for int8
  Index head_bytes;
  PagePart keys;
  PagePart values;
};

/// The rows of tokens [token, token + count) of a batch entry, from row `row` of a page on.
struct PageRows {
  char* page;
  const char* source;  // the page of which this one is to begin as a copy; null: of none
  Index entry;
  Index row;
  Index token;
  Index count;
};

struct NewTokens {
  FloatView keys;    // [B, H, n, D], rows contiguous
  FloatView values;  // [B, H, n, E]
};

/// Writes the rows of one head as f32, f16 or int8, rounded as JavaScript rounds them, bit by bit. Returns false where
/// int8 gets numbers that are not finite.
bool append_head(const NewTokens& tokens, const PageLayout& layout, const PageRows& rows, Index head);

struct PackedPagePart {
  std::int32_t offset;
  std::int32_t width;
  std::int32_t scales;
};

struct AppendedPage {
  PackedView page;  // its address alone
  PackedView source;
  std::int32_t entry;
  std::int32_t row;
  std::int32_t token;
  std::int32_t count;

  HEED_FIELDS(page, source, entry, row, token, count)
};

struct AppendCall {
  CallHeader header;
  PackedView key;
  PackedView value;
  std::int32_t key_type;  // DType
  std::int32_t value_type;
  std::int32_t page_type;
  std::int32_t head_bytes;
  PackedPagePart keys;
  PackedPagePart values;
  std::int32_t pages;
  AppendedPage first;  // the others follow

  HEED_FIELDS(header, key, value, key_type, value_type, page_type, head_bytes, keys, values, pages, first)
};

Status run(const AppendCall& call, Executor& executor);

}  // namespace heed
