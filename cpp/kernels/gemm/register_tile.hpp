// The register tile (GEMM microkernel): MR rows, each number splat against a panel of NR = kPanel numbers. All products
// of rows are this, whatever comes before and after: QK^T, PV, projections, the packed GEMM, linear attention and the
// backward pass.
#pragma once

#include <cstddef>

#include "kernels/memory/kv_rows.hpp"
#include "kernels/simd/batch.hpp"

namespace heed::kernels {

/// MR = 6 rows x 2 vectors: 12 accumulators cover the latency of a fused multiply-add (4 cycles, 2 a cycle) and fit the
/// registers. Plain WebAssembly has no fused multiply-add: the products take registers as well, and with 12
/// accumulators V8 spills (26 GFLOP/s instead of 43).
inline constexpr int kMR = kFusesMultiplyAdd ? 6 : 4;

template <int kRows>
using RegisterTile = Batch[kRows][kPanelVectors];

/// The operands of a tile: a packed panel[depth][kPanel], aligned, and the rows whose numbers are splat. In the form NT
/// a row of the tile is one of `rows`, in the form NN a column of them.
struct TileOperands {
  const float* panel;
  int depth;
  FloatRows rows;
};

struct MultiplyAdd {
  Batch operator()(int /*k*/, Batch panel, Batch number, Batch sum) const { return multiply_add(number, panel, sum); }
};

/// tile[r] = add(k, panel[k], element(r, k), tile[r]) for every k, where `element` gives the address of a number. Rows
/// of the panel are `stride` apart.
template <int kRows, class Element, class Add = MultiplyAdd>
[[gnu::always_inline]] inline void accumulate(RegisterTile<kRows>& tile, int depth, const float* panel, Element element,
                                              Add add = {}, std::ptrdiff_t stride = kPanel) {
  for (int k = 0; k < depth; ++k) {
    const Batch first = Batch::load_aligned(panel);
    const Batch second = Batch::load_aligned(panel + kLanes);
    panel += stride;
    for (int r = 0; r < kRows; ++r) {
      const Batch number = Batch::broadcast(*element(r, k));
      tile[r][0] = add(k, first, number, tile[r][0]);
      tile[r][1] = add(k, second, number, tile[r][1]);
    }
  }
}

template <int kRows>
[[gnu::always_inline]] inline void accumulate_nt(RegisterTile<kRows>& tile, const TileOperands& input) {
  const float* row[kRows];
  for (int r = 0; r < kRows; ++r) row[r] = input.rows.row(r);
  accumulate<kRows>(tile, input.depth, input.panel, [&row](int r, int k) { return row[r] + k; });
}

template <int kRows, class Add = MultiplyAdd>
[[gnu::always_inline]] inline void accumulate_nn(RegisterTile<kRows>& tile, const TileOperands& input, Add add = {}) {
  const FloatRows rows = input.rows;
  accumulate<kRows>(tile, input.depth, input.panel, [rows](int r, int k) { return rows.row(k) + r; }, add);
}

template <int kRows>
[[gnu::always_inline]] inline void clear_tile(RegisterTile<kRows>& tile) {
  for (auto& sums : tile) sums[0] = sums[1] = Batch(0.0F);
}

template <int kRows>
[[gnu::always_inline]] inline void store_tile(const RegisterTile<kRows>& tile, float* target) {
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector].store_aligned(target + r * kPanel + vector * kLanes);
    }
  }
}

/// The epilogue of the form NT.
struct TileOutput {
  float* sums;  // rows, `stride` apart
  std::ptrdiff_t stride;
  bool are_added = false;    // to what is there
  float* row_max = nullptr;  // [kPanel], raised to the largest sum of each lane; null: not asked for
};

/// output = rows x panel. row_max is kept in memory, since two more registers over the inner loop make V8 spill, which
/// costs 5 %.
template <int kRows>
[[gnu::noinline]] void multiply_nt(const TileOperands& input, const TileOutput& output) {
  // A copy, which no store of a sum can change, stays in registers.
  const auto [sums, stride, are_added, row_max] = output;
  RegisterTile<kRows> tile;
  clear_tile<kRows>(tile);
  accumulate_nt<kRows>(tile, input);
  for (int r = 0; are_added && r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector] += Batch::load_unaligned(sums + r * stride + vector * kLanes);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector].store_unaligned(sums + r * stride + vector * kLanes);
    }
  }
  for (int vector = 0; row_max && vector < kPanelVectors; ++vector) {
    Batch highest = Batch::load_aligned(row_max + vector * kLanes);
    for (int r = 0; r < kRows; ++r) highest = at_least(tile[r][vector], highest);
    highest.store_aligned(row_max + vector * kLanes);
  }
}

/// output[kRows][kPanel] = output * factor + the sum of rows^T x panel over `inputs`; null for `factor`: without what
/// is there.
template <int kRows, class Add, class Inputs>
[[gnu::noinline]] void multiply_nn(const Inputs& inputs, int first_row, const Batch* factor, float* output) {
  RegisterTile<kRows> tile;
  clear_tile<kRows>(tile);
  for (const TileOperands& input : inputs) {
    accumulate_nn<kRows, Add>(tile, {input.panel, input.depth, {input.rows.data + first_row, input.rows.stride}});
  }
  for (int r = 0; factor && r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      const Batch older = Batch::load_aligned(output + r * kPanel + vector * kLanes);
      tile[r][vector] = multiply_add(older, factor[vector], tile[r][vector]);
    }
  }
  store_tile<kRows>(tile, output);
}

/// The operands of the form TN: the depth is the lanes of some panels[lines][kPanel], and a row of the tile one of
/// their lines.
struct TransposedOperands {
  const float* panels;  // from the first line of the tile on
  std::ptrdiff_t panel_stride;
  int count;
  FloatRows rows;  // one for each lane of each panel, aligned
};

/// sums[kRows][kPanel] += panels^T x rows.
template <int kRows, class Add>
[[gnu::noinline]] void multiply_tn(const TransposedOperands& input, float* sums, std::ptrdiff_t stride) {
  const auto [panels, panel_stride, count, rows] = input;
  RegisterTile<kRows> tile;
  clear_tile<kRows>(tile);
  for (int i = 0; i < count; ++i) {
    const float* const lines = panels + i * panel_stride;
    accumulate<kRows>(
        tile, kPanel, rows.row(i * kPanel), [lines](int r, int k) { return lines + r * kPanel + k; }, Add{},
        rows.stride);
  }
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      float* const sum = sums + r * stride + vector * kLanes;
      (Batch::load_aligned(sum) + tile[r][vector]).store_aligned(sum);
    }
  }
}

/// Calls body.template operator()<rows>(first_row) over [0, count) in as few tiles as possible, of kMR rows at most and
/// of nearly equal heights: a tile of one or two rows has too few accumulators to hide the latency of additions. The
/// body calls a function that is not inlined: V8 gives a tile its registers only where it is alone, and replaces
/// baseline code only when a function is called again.
template <class Body>
[[gnu::always_inline]] inline void for_each_tile(int count, Body body) {
  static_assert(kMR <= 6);
  int row = 0;
  for (int tiles = (count + kMR - 1) / kMR; tiles > 0; --tiles) {
    const int rows = (count - row + tiles - 1) / tiles;
    switch (rows) {
      case 6:
        if constexpr (kMR >= 6) body.template operator()<6>(row);
        break;
      case 5:
        if constexpr (kMR >= 5) body.template operator()<5>(row);
        break;
      case 4:
        body.template operator()<4>(row);
        break;
      case 3:
        body.template operator()<3>(row);
        break;
      case 2:
        body.template operator()<2>(row);
        break;
      default:
        body.template operator()<1>(row);
        break;
    }
    row += rows;
  }
}

}  // namespace heed::kernels
