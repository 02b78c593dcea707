// Sums over rows of outer products, by the form TN of the register tile: dV += P^T dO and dK += dS^T Q of a KV block,
// whose depth is the rows of a task, and the matrices of score functions.
#pragma once

#include "kernels/backward/backward_task.hpp"
#include "kernels/gemm/register_tile.hpp"
#include "kernels/memory/finite.hpp"
#include "kernels/memory/widen.hpp"

namespace heed::kernels {

/// Aligned rows in whole panels, those of a task one after the other.
struct RowCopies {
  float* data;
  std::ptrdiff_t stride;

  [[nodiscard]] float* row(std::ptrdiff_t index) const { return data + index * stride; }
  [[nodiscard]] FloatRows from(std::ptrdiff_t index) const { return {row(index), stride}; }
  [[nodiscard, gnu::noinline]] bool are_finite(int count) const {
    return are_all_finite(from(0), count, static_cast<int>(stride));
  }

  /// Copies a row times `factor`, or makes it zero.
  [[gnu::noinline]] void copy(std::ptrdiff_t index, KvRow source, int dim, float factor) const {
    float* const target = row(index);
    for (std::ptrdiff_t i = 0; i < stride; i += kLanes) Batch(0.0F).store_aligned(target + i);
    for (int i = 0; source.data && i < dim; i += kLanes) {
      const int count = dim - i < kLanes ? dim - i : kLanes;
      store_some(load_widened(source, i, count) * Batch(factor), target + i, count);
    }
  }
};

/// A row counts only for the lines where its weight or gradient is not zero.
struct AddAttendedRow {
  Batch operator()(int /*k*/, Batch row, Batch number, Batch sum) const {
    const Batch zero(0.0F);
    return multiply_add(xsimd::select(number == zero, zero, row), number, sum);
  }
};

/// Panels[lines][kPanel] of what multiplies the rows, a line a key or a number of the left row, and the rows.
struct OuterProducts {
  TransposedOperands operands;
  int lines;
  int dim;          // of the rows, in whole panels
  bool are_finite;  // the rows
};

template <int kRows, class Add>
void add_tile(const OuterProducts& products, int line, float* sums) {
  const std::ptrdiff_t stride = products.operands.rows.stride;
  TransposedOperands operands = products.operands;
  operands.panels += line * kPanel;
  // The numbers of a tile of lines are read again for each column while they are in the first-level cache.
  for (int column = 0; column < products.dim; column += kPanel) {
    multiply_tn<kRows, Add>(operands, sums + line * stride + column, stride);
    operands.rows.data += kPanel;
  }
}

/// sums[lines][dim] += what the rows add.
inline void add_outer_products(const OuterProducts& products, float* sums) {
  if (products.are_finite) {
    for_each_tile(products.lines, [&]<int kRows>(int line) { add_tile<kRows, MultiplyAdd>(products, line, sums); });
  } else {
    for (int line = 0; line < products.lines; ++line) add_tile<1, AddAttendedRow>(products, line, sums);
  }
}

}  // namespace heed::kernels
