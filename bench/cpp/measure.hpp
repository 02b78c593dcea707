// Tools of all C++ benches: a clock, medians, seeded numbers, and the selection of cases.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>
#include <span>
#include <string_view>
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

/// With `--smoke` a bench measures its first case alone, to show that it works.
template <typename Case>
std::span<const Case> asked(std::span<const Case> cases, int count, char** arguments) {
  const std::span<char*> given(arguments, static_cast<std::size_t>(count));
  const bool is_smoke = std::ranges::any_of(given, [](const char* one) { return std::string_view(one) == "--smoke"; });
  return is_smoke ? cases.first(1) : cases;
}

inline std::vector<float> normal_numbers(Index count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = normal(random);
  return numbers;
}

}  // namespace heed::bench
