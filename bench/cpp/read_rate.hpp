// What memory allows: numbers read in order and added up, nothing else done with them.
#pragma once

#include <cstddef>

namespace heed::bench {

/// The most that read_numbers can read.
inline constexpr std::size_t kMostNumbers = std::size_t{9} << 20;

/// Reads this many numbers `repeats` times and returns how many bytes that was.
double read_numbers(std::size_t count, int repeats);

}  // namespace heed::bench
