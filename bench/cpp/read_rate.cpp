#include "read_rate.hpp"

#include <algorithm>

#include "bench_arch.hpp"

namespace heed::bench {
namespace {

using kernels::Batch;

constexpr std::size_t kSums = 8;
constexpr std::size_t kStep = kSums * static_cast<std::size_t>(kernels::kLanes);
constexpr std::size_t kChunk = 1024 * kStep;

alignas(64) float numbers[kMostNumbers];
std::size_t written = 0;

/// This is a function of its own for the same reason as run_tile.
float sum_of(const float* from, std::size_t count) {
  Batch sums[kSums];
  for (auto& sum : sums) sum = Batch(0.0F);
  for (std::size_t at = 0; at + kStep <= count; at += kStep) {
    for (std::size_t i = 0; i < kSums; ++i) {
      sums[i] += Batch::load_aligned(from + at + i * static_cast<std::size_t>(kernels::kLanes));
    }
  }
  for (std::size_t i = 1; i < kSums; ++i) sums[0] += sums[i];
  return xsimd::reduce_add(sums[0]);
}

}  // namespace

double read_numbers(std::size_t count, int repeats) {
  const std::size_t wanted = std::min(count, kMostNumbers);
  // Memory pages that were never written are all the same page of zeros, which stays in the cache.
  if (written < wanted) {
    std::fill(numbers + written, numbers + wanted, 1.0F);
    written = wanted;
  }
  auto* volatile sum = &sum_of;
  volatile float result = 0.0F;
  for (int i = 0; i < repeats; ++i) {
    for (std::size_t at = 0; at < wanted; at += kChunk) result = sum(numbers + at, std::min(kChunk, wanted - at));
  }
  (void)result;
  return static_cast<double>(sizeof(float)) * static_cast<double>(wanted) * repeats;
}

}  // namespace heed::bench
