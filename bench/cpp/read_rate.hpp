// The read bandwidth: numbers are read in order and added up.
#pragma once

#include <cstddef>

namespace heed::bench {

/// The largest count that read_numbers takes.
inline constexpr std::size_t kMostNumbers = std::size_t{32} << 20;

/// Reads this many numbers `repeats` times and returns how many bytes that was.
double read_numbers(std::size_t count, int repeats);

}  // namespace heed::bench
