#include <catch_amalgamated.hpp>

#include "attention_check.hpp"
#include "operations/common/scratch.hpp"

namespace heed::testing {

TEST_CASE("scratch past what 32 bits address is refused before anything is read or written") {
  float somewhere = 0.0F;
  float untouched = kUntouched;
  const Index huge = Index{1} << 30;
  const AttentionInputs inputs = {.query = TensorView<const float>{&somewhere, {1, 1, 1, huge}, {0, 0, 0, 1}},
                                  .key = TensorView<const float>{&somewhere, {1, 1, 1, huge}, {0, 0, 0, 1}},
                                  .value = TensorView<const float>{&somewhere, {1, 1, 1, 1}, {0, 0, 0, 1}},
                                  .mask = {},
                                  .bias = {}};
  const AttentionOutputs outputs = {
      .output = {&untouched, {1, 1, 1, 1}, {0, 0, 0, 1}}, .weights = {}, .log_sum_exp = {}};
  const Status status = attention(inputs, {}, outputs, calling_thread());
  CHECK(status.code() == StatusCode::memory);
  CHECK_THAT(std::string(status.message()), Catch::Matchers::StartsWith("attention: scratch memory"));
  CHECK(untouched == kUntouched);
}

TEST_CASE("workers without number ask for memory without number and are told so") {
  Random random(100);
  const AttentionTensors tensors = make_tensors(random, {.queries = 64, .keys = 5});
  ReverseExecutor executor(std::numeric_limits<int>::max());
  const Results results(tensors.inputs());
  CHECK(attention(tensors.inputs(), {}, results.outputs(), executor).code() == StatusCode::memory);
  CHECK(results.output.numbers[0] == kUntouched);
}

TEST_CASE("scratch is aligned, and unavailable rather than an exception when there is no such memory") {
  const Scratch some(1000);
  REQUIRE(some.is_available());
  CHECK(reinterpret_cast<std::uintptr_t>(some.data()) % kernels::kScratchAlignment == 0);
  CHECK(!Scratch(Index{1} << 30).is_available());
  CHECK(!Scratch(std::numeric_limits<Index>::max()).is_available());
}

}  // namespace heed::testing
