// How int8 keys and values lie: in tiles of pairs, in the order in which the decode kernels meet them.
#pragma once

#include "heed/vocabulary.hpp"

namespace heed {

/// A pair is two numbers of each of 16 columns. A tile of keys has a column for each of 16 keys, and its pairs are two
/// dimensions; a tile of values has a column for each of 16 dimensions, and its pairs are two of 32 values.
inline constexpr int kI8TileColumns = 16;
inline constexpr int kI8TileValues = 32;
inline constexpr int kI8PairBytes = 2 * kI8TileColumns;
inline constexpr int kI8ValueTileBytes = kI8TileValues * kI8TileColumns;

/// Rows of K or V that share a tile.
constexpr int i8_tile_rows(DType dtype) { return dtype == DType::i8_keys ? kI8TileColumns : kI8TileValues; }

/// From the first byte of a tile to the first number of one of its rows.
constexpr int i8_row_offset(DType dtype, int row_in_tile) {
  return dtype == DType::i8_keys ? 2 * row_in_tile : row_in_tile / 2 * kI8PairBytes + row_in_tile % 2;
}

/// From the first number of a row to number i.
template <typename Number>
constexpr Number i8_number_offset(DType dtype, Number i) {
  if (dtype == DType::i8_keys) return i / 2 * kI8PairBytes + i % 2;
  return i / kI8TileColumns * kI8ValueTileBytes + i % kI8TileColumns * 2;
}

}  // namespace heed
