// The register tile: MR rows, each number splat against a panel of NR = kPanel numbers. Both products of attention are
// this: scores = keys x queries, output = values x weights.
#pragma once

#include <cstddef>

#include "kernels/simd/batch.hpp"

namespace heed::kernels {

/// MR = 6 rows x 2 vectors: 12 accumulators cover the latency of a fused multiply-add (4 cycles, 2 a cycle) and fit the
/// registers. Plain WebAssembly has no fused multiply-add: the products take registers as well, and with 12
/// accumulators V8 spills (26 GFLOP/s instead of 43).
#if defined(__wasm__) && !defined(__wasm_relaxed_simd__)
inline constexpr int kMR = 4;
#else
inline constexpr int kMR = 6;
#endif

template <int kRows>
using RegisterTile = Batch[kRows][kPanelVectors];

/// The operands of a tile: panel[depth][kPanel], and rows `stride` apart.
struct TileOperands {
  const float* panel;
  int depth;
  const float* numbers;
  std::ptrdiff_t stride;
};

/// tile[r] += sum over k of element(r, k) * panel[k], where `element` gives the address of a number and `panel` is
/// packed, [depth][kPanel].
template <int kRows, class Element>
[[gnu::always_inline]] inline void accumulate(RegisterTile<kRows>& tile, int depth, const float* panel,
                                              Element element) {
  for (int k = 0; k < depth; ++k) {
    const Batch first = Batch::load_aligned(panel);
    const Batch second = Batch::load_aligned(panel + kLanes);
    panel += kPanel;
    for (int r = 0; r < kRows; ++r) {
      const Batch number = Batch::broadcast(*element(r, k));
      tile[r][0] = multiply_add(number, first, tile[r][0]);
      tile[r][1] = multiply_add(number, second, tile[r][1]);
    }
  }
}

/// tile += source, as store_tile() stored it.
template <int kRows>
[[gnu::always_inline]] inline void add_tile(const float* source, RegisterTile<kRows>& tile) {
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector] += Batch::load_aligned(source + r * kPanel + vector * kLanes);
    }
  }
}

template <int kRows>
[[gnu::always_inline]] inline void store_tile(const RegisterTile<kRows>& tile, float* target) {
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector].store_aligned(target + r * kPanel + vector * kLanes);
    }
  }
}

/// Calls body.template operator()<rows>(first_row) over [0, count) in tiles of kMR rows, the last one of what remains:
/// the same code, a shorter tile. The body calls a function that is not inlined: V8 gives a tile its registers only
/// where it is alone, and replaces baseline code only when a function is called again.
template <class Body>
[[gnu::always_inline]] inline void for_each_tile(int count, Body body) {
  static_assert(kMR <= 6);
  int row = 0;
  for (; row + kMR <= count; row += kMR) body.template operator()<kMR>(row);
  switch (count - row) {
    case 5:
      return body.template operator()<5>(row);
    case 4:
      return body.template operator()<4>(row);
    case 3:
      return body.template operator()<3>(row);
    case 2:
      return body.template operator()<2>(row);
    case 1:
      return body.template operator()<1>(row);
    default:
      return;
  }
}

}  // namespace heed::kernels
