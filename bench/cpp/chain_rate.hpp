// What the arithmetic alone allows: multiply-adds between registers, nothing loaded.
#pragma once

namespace heed::bench {

/// Runs `repeats` times a thousand steps of 12 independent chains of multiply-adds and returns how many
/// floating-point operations that was.
double run_chains(int repeats);

}  // namespace heed::bench
