// Scales and scores of unusual size.
#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>

#include "attention_check.hpp"

namespace heed::testing {
namespace {

const AttentionCase kCase = {.heads = 2, .queries = 33, .keys = 70, .head_dim = 24, .value_dim = 10};

}  // namespace

TEST_CASE("scales of zero, below zero, tiny and large stay within the error model") {
  Random random(110);
  for (const float scale : {0.0F, -0.0F, -0.3F, 1.0F, 7.5F, -20.0F, 1e-6F, 1e-30F, 1e-38F}) {
    AttentionCase one = kCase;
    one.scale = scale;
    check_case(random, one);
  }
}

TEST_CASE("a scale of zero gives the mean of the values") {
  Random random(111);
  AttentionCase one = kCase;
  one.scale = 0.0F;
  const AttentionTensors tensors = make_tensors(random, one);
  const Results results = run(tensors.inputs(), tensors.options);
  for_each_element(one.score_shape(), [&](Index b, Index h, Index i, Index j) {
    CHECK(std::abs(results.weights(b, h, i, j) * 70.0F - 1.0F) <= 4.0F * static_cast<float>(kUnitRoundoff));
  });
}

TEST_CASE("queries and keys of any magnitude stay within the error model") {
  Random random(112);
  for (const float deviation : {1e-20F, 1e-5F, 0.1F, 3.0F, 10.0F}) {
    AttentionCase one = kCase;
    one.deviation = deviation;
    check_case(random, one);
  }
}

TEST_CASE("a saturated softmax gives the value of the largest score itself") {
  Random random(113);
  AttentionCase one = kCase;
  one.queries = one.keys = 40;
  AttentionTensors tensors = make_tensors(random, one);
  // Key n is 300 at element n % 24 and query i asks for key i % 24 + 7 alone.
  std::ranges::fill(tensors.key.numbers, 0.0F);
  std::ranges::fill(tensors.query.numbers, 0.0F);
  for (Index h = 0; h < 2; ++h) {
    for (Index i = 0; i < 40; ++i) tensors.query(0, h, i, i % 24) = 300.0F;
  }
  for (Index n = 0; n < 24; ++n) tensors.key(0, 0, n + 7, n) = 300.0F;
  const Results results = run(tensors.inputs(), {});
  for_each_element(results.output.view.shape, [&](Index b, Index h, Index i, Index e) {
    const float value = tensors.value(0, 0, i % 24 + 7, e);
    CHECK(std::abs(results.output(b, h, i, e) - value) <= 3e-7F * std::abs(value));
  });
  for_each_element(results.weights.view.shape, [&](Index b, Index h, Index i, Index j) {
    CHECK(results.weights(b, h, i, j) == (j == i % 24 + 7 ? 1.0F : 0.0F));
  });
}

TEST_CASE("weights too small for the sums are still right in the weights") {
  // exp(-70) is below 2^-80 of the largest: it no longer counts in a sum, but it can be looked at.
  Random random(114);
  AttentionTensors tensors = make_tensors(random, {.queries = 5, .keys = 9, .scale = 0.0F});
  tensors.bias = allocate({1, 1, 1, 9}, Layout::bhnd, 0.0F);
  for (Index j = 0; j < 9; ++j) tensors.bias(0, 0, 0, j) = -10.0F * static_cast<float>(j);
  check_tensors(tensors);
}

TEST_CASE("scores that rise from key to key, block after block, stay within the error model") {
  Random random(115);
  for (const float step : {0.01F, 1.0F, -1.0F, 60.0F}) {
    AttentionTensors tensors = make_tensors(random, {.queries = 9, .keys = 300});
    tensors.bias = allocate({1, 1, 1, 300}, Layout::bhnd, 0.0F);
    for (Index j = 0; j < 300; ++j) tensors.bias(0, 0, 0, j) = step * static_cast<float>(j);
    INFO("step " << step);
    check_tensors(tensors);
  }
}

TEST_CASE("values of any magnitude stay within the error model") {
  Random random(116);
  for (const float factor : {1e-30F, 1e30F}) {
    AttentionTensors tensors = make_tensors(random, kCase);
    for (float& number : tensors.value.numbers) number *= factor;
    check_tensors(tensors);
  }
}

}  // namespace heed::testing
