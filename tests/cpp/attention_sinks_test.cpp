// Sinks: logits that take part in the denominator and in nothing else.
#include <algorithm>
#include <catch_amalgamated.hpp>

#include "attention_check.hpp"

namespace heed::testing {
namespace {

const AttentionCase kCase = {.heads = 2, .queries = 21, .keys = 120};

AttentionTensors with_sinks(Random& random, const AttentionCase& one, std::vector<float> sinks) {
  AttentionTensors tensors = make_tensors(random, one);
  tensors.sinks = std::move(sinks);
  tensors.options.sinks = tensors.sinks.data();
  return tensors;
}

}  // namespace

TEST_CASE("sinks above, among and below all scores stay within the error model") {
  Random random(180);
  for (const float sink : {-200.0F, -50.0F, -3.0F, 0.0F, 2.0F, 10.0F, 40.0F, 60.0F}) {
    INFO("sink " << sink);
    check_all_results(with_sinks(random, kCase, {sink, -sink / 4.0F}));
  }
}

TEST_CASE("a sink is as good as a key of its score whose value is zero") {
  Random random(181);
  // Key 0 scores what its bias says and its value is zero; then it is taken away and a sink put in its place.
  AttentionTensors tensors = with_sinks(random, kCase, {1.25F, 1.25F});
  tensors.bias = allocate({1, 1, 1, kCase.keys}, Layout::bhnd, 0.0F);
  tensors.bias(0, 0, 0, 0) = 1.25F;
  std::fill_n(tensors.key.numbers.begin(), kCase.head_dim, 0.0F);
  std::fill_n(tensors.value.numbers.begin(), kCase.value_dim, 0.0F);
  AttentionOptions without = tensors.options;
  without.sinks = nullptr;
  const Expected expected = expect(tensors.inputs(), without);
  const Results as_key = run(tensors.inputs(), without);
  tensors.bias(0, 0, 0, 0) = -kInfinity;
  const Results as_sink = run(tensors.inputs(), tensors.options);
  tensors.bias(0, 0, 0, 0) = 1.25F;
  for_each_element(kCase.output_shape(), [&](Index b, Index h, Index i, Index e) {
    const RowBounds& bounds = expected.bounds[static_cast<std::size_t>(h * kCase.queries + i)];
    const auto distance = [](float one, float other) { return std::abs(static_cast<double>(one - other)); };
    CHECK(distance(as_key.output(b, h, i, e), as_sink.output(b, h, i, e)) <=
          2.0 * bounds.output[static_cast<std::size_t>(e)]);
    CHECK(distance(as_key.log_sum_exp(b, h, i, 0), as_sink.log_sum_exp(b, h, i, 0)) <= 2.0 * bounds.log_sum_exp);
  });
}

TEST_CASE("a sink of -infinity gives the bits of no sink") {
  Random random(182);
  const AttentionTensors tensors = with_sinks(random, kCase, {-kInfinity, -kInfinity});
  CHECK(run(tensors.inputs(), tensors.options).bits() == run(tensors.inputs(), {}).bits());
}

TEST_CASE("a row without keys gives zeros and -infinity whatever its sink") {
  Random random(183);
  for (const float sink : {-kInfinity, -100.0F, 0.0F, 100.0F}) {
    AttentionCase one = kCase;
    one.queries = 130;  // the first ten see no key
    one.causal = Causal::lower_right;
    const AttentionTensors tensors = with_sinks(random, one, {sink, sink});
    const Results results = run(tensors.inputs(), tensors.options);
    INFO(", sink " << sink);
    Index wrong = 0;
    for_each_element({1, 2, 10, kCase.keys}, [&](Index b, Index h, Index i, Index j) {
      wrong += results.weights(b, h, i, j) != 0.0F;
      wrong += results.output(b, h, i, j % kCase.value_dim) != 0.0F;
      wrong += results.log_sum_exp(b, h, i, 0) != -kInfinity;
      wrong += results.entropy(b, h, i, 0) != 0.0F;
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("a sink out of all proportion takes everything and leaves finite numbers") {
  Random random(184);
  for (const float sink : {500.0F, 1e10F, 1e30F}) {
    const AttentionTensors tensors = with_sinks(random, kCase, {sink, sink});
    const Results results = run(tensors.inputs(), tensors.options);
    INFO(", sink " << sink);
    Index wrong = 0;
    for_each_element(kCase.output_shape(), [&](Index b, Index h, Index i, Index e) {
      wrong += !(std::abs(results.output(b, h, i, e)) <= 1e-30F);
      wrong += !(std::abs(results.entropy(b, h, i, 0)) <= 1e-30F);
      wrong += !(std::abs(results.log_sum_exp(b, h, i, 0) / sink - 1.0F) <= 1e-6F);
      wrong += !(std::abs(results.weights(b, h, i, 3)) <= 1e-30F);
    });
    CHECK(wrong == 0);
  }
}

}  // namespace heed::testing
