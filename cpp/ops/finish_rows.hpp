// What a rule says of rows, as kernels are told.
#pragma once

#include "heed/pointwise.hpp"
#include "kernels/row_blocks.hpp"

namespace heed {

inline kernels::RepeatedRows repeated(const Rows<const float>& rows, Index first_column) {
  if (!rows.is_present()) return {nullptr, 0, 1};
  return {rows.data + first_column, static_cast<std::ptrdiff_t>(rows.stride), static_cast<std::ptrdiff_t>(rows.count)};
}

/// Without source and target: of `row_count` rows from `first_row` on, and `columns` of their numbers from
/// `first_column` on.
inline kernels::FinishBlock finish_block(const Pointwise& rule, Index first_row, Index row_count, Index first_column,
                                         Index columns) {
  kernels::FinishBlock block{};
  block.first_row = static_cast<std::ptrdiff_t>(first_row);
  block.row_count = static_cast<int>(row_count);
  block.length = static_cast<int>(columns);
  block.bend = static_cast<kernels::Bend>(rule.activation);
  block.bias = rule.bias == nullptr ? nullptr : rule.bias + first_column;
  block.factor = repeated(rule.factor, first_column);
  block.addend = repeated(rule.addend, first_column);
  return block;
}

}  // namespace heed
