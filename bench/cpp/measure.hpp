// What every C++ bench measures with: a clock, medians, seeded numbers.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "heed/tensor_view.hpp"

namespace heed::bench {

double seconds_of(auto work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> samples) {
  std::ranges::sort(samples);
  return samples[samples.size() / 2];
}

inline std::vector<float> normal_numbers(Index count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = normal(random);
  return numbers;
}

}  // namespace heed::bench
