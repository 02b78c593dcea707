#include "paged.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "f16.hpp"
#include "reference/numbers.hpp"

namespace heed::testing {
namespace {

/// How the keys, or values, of a head lie in a page.
struct Places {
  DType dtype;
  Index dim;

  /// Numbers of a row with those that fill up tiles.
  [[nodiscard]] Index width() const {
    if (dtype == DType::i8_keys) return (dim + 1) / 2 * 2;
    if (dtype == DType::i8_values) return (dim + 15) / 16 * 16;
    return dim;
  }
  [[nodiscard]] Index bytes(Index rows) const {
    const Index together = dtype == DType::i8_keys ? 16 : (dtype == DType::i8_values ? 32 : 1);
    return (rows + together - 1) / together * together * width() * bytes_of(dtype);
  }
  [[nodiscard]] Index number(Index row, Index d) const {
    // [sixteen of rows][pair of numbers][row][number]
    if (dtype == DType::i8_keys) return ((row / 16 * (width() / 2) + d / 2) * 16 + row % 16) * 2 + d % 2;
    // [32 rows][sixteen of numbers][pair of rows][number][row]
    if (dtype == DType::i8_values) {
      return (((row / 32 * (width() / 16) + d / 16) * 16 + row % 32 / 2) * 16 + d % 16) * 2 + row % 2;
    }
    return row * dim + d;
  }
};

template <typename T>
void put(std::byte* target, Index index, T number) {
  std::memcpy(target + index * static_cast<Index>(sizeof number), &number, sizeof number);
}

/// The row at a place of those at `target`, and its scale.
void write_row(const std::vector<double>& row, const Places& places, Index place, std::byte* target, std::byte* scale) {
  float largest = 0.0F;
  for (const double number : row) largest = std::max(largest, static_cast<float>(std::abs(number)));
  const float step = largest / 127.0F;
  const DType dtype = places.dtype;
  if (is_int8(dtype)) put(scale, 0, step);
  for (std::size_t d = 0; d < row.size(); ++d) {
    const Index index = places.number(place, static_cast<Index>(d));
    const auto number = static_cast<float>(row[d]);
    if (dtype == DType::f32) put(target, index, number);
    if (dtype == DType::f16) put(target, index, round_to_half(number));
    if (is_int8(dtype)) put(target, index, static_cast<std::int8_t>(step > 0 ? std::lround(number / step) : 0));
  }
}

}  // namespace

Paged::Paged(Random& random, const AttentionInputs& inputs, const Paging& paging) : paged_(inputs) {
  const auto [batch, heads, length, head_dim] = inputs.key.shape;
  const Places of_keys{paging.dtype, head_dim};
  const Places of_values{is_int8(paging.dtype) ? DType::i8_values : paging.dtype, inputs.value.shape[3]};
  // Of a head: its keys, its values, and the scales of both, or the words that tell whether they are finite.
  const auto whole = [](Index bytes) { return (bytes + 127) / 128 * 128; };
  const Index values = whole(of_keys.bytes(paging.rows));
  const Index key_scales = values + whole(of_values.bytes(paging.rows));
  const Index value_scales = key_scales + whole(paging.rows * 4);
  const Index head_bytes = value_scales + whole(paging.rows * 4);

  const Index per_batch = (paging.first + length + paging.rows - 1) / paging.rows + random.below(2);
  memory_.resize(static_cast<std::size_t>(std::max<Index>(1, batch * per_batch)));
  std::vector<std::size_t> order(memory_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<Index>(i)))]);
  }
  for (auto& page : memory_) {
    page.assign(static_cast<std::size_t>(heads * head_bytes), std::byte{0x7F});
    if (paging.dtype != DType::f16 || !paging.is_finite) continue;
    for (Index h = 0; h < heads; ++h) {
      for (const Index mark : {key_scales, value_scales})
        std::fill_n(page.begin() + static_cast<std::ptrdiff_t>(h * head_bytes + mark), 4, std::byte{0});
    }
  }
  for (const std::size_t index : order) table_.push_back(memory_[index].data());

  const auto view = [&](const Shape& shape, const Places& places, Index offset, Index scales) {
    FloatView made;
    made.shape = shape;
    made.strides = {0, head_bytes / bytes_of(places.dtype), places.width(), 1};
    made.dtype = places.dtype;
    made.pages = {.table = table_.data(), .per_batch = per_batch, .rows = paging.rows, .first = paging.first};
    made.offset = offset;
    made.scales = scales;
    return made;
  };
  paged_.key = view(inputs.key.shape, of_keys, 0, key_scales);
  paged_.value = view(inputs.value.shape, of_values, values, value_scales - values);

  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < heads; ++h) {
      for (Index row = 0; row < length; ++row) {
        const Index place = (paging.first + row) % paging.rows;
        std::byte* const head =
            memory_[order[static_cast<std::size_t>(b * per_batch + (paging.first + row) / paging.rows)]].data() +
            h * head_bytes;
        write_row(reference::read_row(inputs.key, b, h, row), of_keys, place, head, head + key_scales + place * 4);
        write_row(reference::read_row(inputs.value, b, h, row), of_values, place, head + values,
                  head + value_scales + place * 4);
      }
    }
  }
}

}  // namespace heed::testing
