// The peak for attention: the GEMM microkernel alone, on data that stays in the
// first-level cache.
#pragma once

namespace heed::bench {

/// Computes the register tile of 6 x 2 vectors `repeats` times over a depth of 64 and returns how many
/// floating-point operations that was.
double run_tiles(int repeats);

}  // namespace heed::bench
