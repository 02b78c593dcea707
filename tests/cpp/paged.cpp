#include "paged.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "half.hpp"
#include "reference/numbers.hpp"

namespace heed::testing {
namespace {

Index bytes_of(DType dtype) { return dtype == DType::i8 ? 1 : (dtype == DType::f16 ? 2 : 4); }

template <typename T>
void put(std::byte* target, Index index, T number) {
  std::memcpy(target + index * static_cast<Index>(sizeof number), &number, sizeof number);
}

/// A row at `target`, and its scale.
void write_row(const std::vector<double>& row, DType dtype, std::byte* target, std::byte* scale) {
  float largest = 0.0F;
  for (const double number : row) largest = std::max(largest, static_cast<float>(std::abs(number)));
  const float unit = largest / 127.0F;
  if (dtype == DType::i8) put(scale, 0, unit);
  for (std::size_t d = 0; d < row.size(); ++d) {
    const auto index = static_cast<Index>(d);
    const auto number = static_cast<float>(row[d]);
    if (dtype == DType::f32) put(target, index, number);
    if (dtype == DType::f16) put(target, index, round_to_half(number));
    if (dtype == DType::i8) put(target, index, static_cast<std::int8_t>(unit > 0 ? std::lround(number / unit) : 0));
  }
}

}  // namespace

Paged::Paged(Random& random, const AttentionInputs& inputs, const Paging& paging) : paged_(inputs) {
  const auto [batch, heads, length, head_dim] = inputs.key.shape;
  const Index value_dim = inputs.value.shape[3];
  const Index size = bytes_of(paging.dtype);
  // Of a head: its keys, its values, and the scales of both.
  const auto whole = [](Index bytes) { return (bytes + 63) / 64 * 64; };
  const Index values = whole(paging.rows * head_dim * size);
  const Index key_scales = values + whole(paging.rows * value_dim * size);
  const Index value_scales = key_scales + whole(paging.rows * 4);
  const Index head_bytes = value_scales + whole(paging.rows * 4);

  const Index per_batch = (paging.first + length + paging.rows - 1) / paging.rows + random.below(2);
  memory_.resize(static_cast<std::size_t>(std::max<Index>(1, batch * per_batch)));
  std::vector<std::size_t> order(memory_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<Index>(i)))]);
  }
  for (auto& page : memory_) page.assign(static_cast<std::size_t>(heads * head_bytes), std::byte{0x7F});
  for (const std::size_t index : order) table_.push_back(memory_[index].data());

  const auto view = [&](const Shape& shape, Index offset, Index scales) {
    FloatView made;
    made.shape = shape;
    made.strides = {0, head_bytes / size, shape[3], 1};
    made.dtype = paging.dtype;
    made.pages = {.table = table_.data(),
                  .per_batch = per_batch,
                  .rows = paging.rows,
                  .first = paging.first,
                  .is_finite = paging.is_finite};
    made.offset = offset;
    made.scales = scales;
    return made;
  };
  paged_.key = view(inputs.key.shape, 0, key_scales);
  paged_.value = view(inputs.value.shape, values, value_scales - values);

  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < heads; ++h) {
      for (Index row = 0; row < length; ++row) {
        const Index place = (paging.first + row) % paging.rows;
        std::byte* const head =
            memory_[order[static_cast<std::size_t>(b * per_batch + (paging.first + row) / paging.rows)]].data() +
            h * head_bytes;
        write_row(reference::read_row(inputs.key, b, h, row), paging.dtype, head + place * head_dim * size,
                  head + key_scales + place * 4);
        write_row(reference::read_row(inputs.value, b, h, row), paging.dtype, head + values + place * value_dim * size,
                  head + value_scales + place * 4);
      }
    }
  }
}

}  // namespace heed::testing
