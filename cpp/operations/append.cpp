#include "operations/append.hpp"

#include "kernels/memory/append_rows.hpp"

namespace heed {
namespace {

bool append(const AppendCall& call, const AppendedRows& part, DType page_type) {
  const auto type = static_cast<DType>(part.type);
  kernels::KvRows rows{.dtype = type, .data = nullptr, .stride = part.rows.strides[2]};
  kernels::KvRows pages{.dtype = page_type,
                        .data = nullptr,
                        .stride = part.cached.strides[2],
                        .pages = pointer<const void* const>(call.pages.pages),
                        .page_size = call.pages.page_rows,
                        .skipped = call.pages.first_row,
                        .offset = 0,
                        .scales = part.scales};
  // Not a structured binding: clang-tidy 19 crashes on one of an array.
  const int batch = part.rows.shape[0], heads = part.rows.shape[1];
  const auto* const first_rows = pointer<const std::int32_t>(call.first_rows);
  for (std::ptrdiff_t b = 0; b < batch; ++b) {
    if (first_rows != nullptr) pages.skipped = first_rows[b];
    pages.offset = static_cast<std::ptrdiff_t>(part.cached.address);
    rows.data = kernels::FloatRow{pointer<const char>(part.rows.address), type}.from(b * part.rows.strides[0]).data;
    for (int h = 0; h < heads; ++h) {
      if (!append_rows(rows, pages, part.rows.shape[2], part.rows.shape[3])) return false;
      pages.offset += std::ptrdiff_t{part.cached.strides[1]} * bytes_of(page_type);
      rows.data = rows.first().from(part.rows.strides[1]).data;
    }
    pages.pages += call.pages.per_batch;
  }
  return true;
}

}  // namespace

Status run(const AppendCall& call, Executor& /*executor*/) {
  const auto type = static_cast<DType>(call.page_type);
  if (append(call, call.key, type) && append(call, call.value, is_int8(type) ? DType::i8_values : type)) return {};
  return {StatusCode::option, "KVCache: dtype i8 takes finite numbers, got others"};
}

}  // namespace heed
