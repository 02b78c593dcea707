// The machine's own ceiling for attention: the inner loop of the kernels, alone, on data
// that stays in the first-level cache.
#pragma once

namespace heed::bench {

/// Runs the 6 x 2 vector tile `repeats` times over a depth of 64 and returns how many
/// floating-point operations that was.
double run_tiles(int repeats);

}  // namespace heed::bench
