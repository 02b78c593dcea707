// libFuzzer's entry point, and random inputs for it where there is no libFuzzer: some in every run of the tests, more
// with HEED_FUZZ_SECONDS.
#include "fuzz/fuzz.hpp"

#include <catch_amalgamated.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

/// The allocations of scratch memory until one fails; 0: none fails.
int until_failure = 0;

}  // namespace

// The two by which Scratch allocates.
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  const bool fails = until_failure == 1;
  until_failure -= until_failure > 0 ? 1 : 0;
  if (fails) return nullptr;
  const auto multiple = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(multiple, (bytes + multiple - 1) / multiple * multiple);
}
void operator delete(void* data, std::align_val_t /*alignment*/) noexcept { std::free(data); }

namespace heed::testing {

FailingAllocation::FailingAllocation(Random& random) {
  if (random.chance(0.3)) until_failure = 1 + static_cast<int>(random.below(6));
}
FailingAllocation::~FailingAllocation() { until_failure = 0; }

TEST_CASE("random inputs compute within their memory, or are refused", "[fuzz]") {
  const char* const given = std::getenv("HEED_FUZZ_SECONDS");  // NOLINT(concurrency-mt-unsafe): one thread
  const double seconds = given == nullptr ? 0.0 : std::strtod(given, nullptr);
  const auto start = std::chrono::steady_clock::now();
  std::mt19937 engine(seed());
  std::vector<std::uint8_t> input;
  int count = 0;
  const auto has_time = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds;
  };
  for (; count < 20000 || has_time(); ++count) {
    input.resize(engine() % 400);
    for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(engine());
    // Attention and expressions come first, because they are rare among others.
    if (count < 200 && !input.empty()) input[0] = 0;
    if (count < 60 && input.size() > 1) input[1] = 0;
    INFO("input " << count << " of HEED_SEED=" << seed());
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%d random inputs\n", count);
}

}  // namespace heed::testing

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  heed::testing::Random random(std::span(data + 2, size - 2));
  // A packed call takes 30 us, an expression a millisecond, attention with its reference five.
  if (data[0] == 0 && data[1] < 4) {
    heed::testing::try_attention(random);
  } else if (data[0] == 0) {
    heed::testing::try_expressions(random);
  } else {
    heed::testing::try_packed_call(random);
  }
  return 0;
}
