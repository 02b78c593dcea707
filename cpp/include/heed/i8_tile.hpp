// The layout of int8 keys and values: tiles of pairs, in the order in which the decode kernel multiplies them.
#pragma once

#include "heed/vocabulary.hpp"

namespace heed {

/// Bytes from number 0 to number i: `near` from one to the next within a group, and `far` from group to group.
struct I8Steps {
  int group;
  int near;
  int far;

  template <typename Number>
  [[nodiscard]] constexpr Number to(Number i) const {
    return i / group * far + i % group * near;
  }
};

/// How many rows of K or V share a tile, and the steps from row to row and from number to number of a row.
struct I8Tile {
  int rows;
  I8Steps row;
  I8Steps number;
};

/// A pair is two numbers of each of 16 columns. A tile of keys has a column for each of 16 keys, and its pairs are two
/// dimensions; a tile of values has a column for each of 16 dimensions, and its pairs are two of 32 values.
inline constexpr int kI8TileColumns = 16;
inline constexpr int kI8TileValues = 32;
inline constexpr int kI8PairBytes = 2 * kI8TileColumns;
inline constexpr I8Tile kI8KeyTile{kI8TileColumns, {kI8TileColumns, 2, 0}, {2, 1, kI8PairBytes}};
inline constexpr I8Tile kI8ValueTile{
    kI8TileValues, {2, 1, kI8PairBytes}, {kI8TileColumns, 2, kI8TileValues* kI8TileColumns}};

/// The number of rows of K or V that share a tile.
constexpr int i8_tile_rows(DType dtype) { return dtype == DType::i8_keys ? kI8KeyTile.rows : kI8ValueTile.rows; }

/// Bytes from the start of a tile to the first number of one of its rows.
constexpr int i8_row_offset(DType dtype, int row_in_tile) {
  return dtype == DType::i8_keys ? kI8KeyTile.row.to(row_in_tile) : kI8ValueTile.row.to(row_in_tile);
}

/// Bytes from the first number of a row to number i.
template <typename Number>
constexpr Number i8_number_offset(DType dtype, Number i) {
  return dtype == DType::i8_keys ? kI8KeyTile.number.to(i) : kI8ValueTile.number.to(i);
}

}  // namespace heed
