// The peak for one row times narrow weights: the kernel alone, on weights that stay in the first-level cache.
#pragma once

namespace heed::bench {

/// Multiplies a row by weights of `bits` bits, 8 or 4, `repeats` times and returns how many bytes of packed weights
/// were read.
double run_narrow(int repeats, int bits);

}  // namespace heed::bench
