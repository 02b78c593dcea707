// The arithmetic peak: multiply-adds between registers, without a load.
#pragma once

namespace heed::bench {

/// Computes `repeats` times a thousand steps of 12 independent chains of multiply-adds and returns how many
/// floating-point operations that was.
double run_chains(int repeats);

}  // namespace heed::bench
