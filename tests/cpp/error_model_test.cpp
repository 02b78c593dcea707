// A test of the tests: what is right passes the error model, what is slightly wrong does not.
#include "error_model.hpp"

#include <catch_amalgamated.hpp>

#include "attention_check.hpp"

namespace heed::testing {
namespace {

const AttentionCase kCase = {.heads = 2, .queries = 40, .keys = 100, .head_dim = 32, .value_dim = 16};

/// The reference's results, rounded to float.
Results rounded(const AttentionInputs& inputs, const AttentionOptions& options) {
  const reference::AttentionResult exact = reference::attention(inputs, options);
  Results results(inputs, {.scores = ScoreStage::masked});
  const auto fill = [](Owned<float>& target, const std::vector<double>& numbers) {
    std::size_t n = 0;
    for_each_element(target.view.shape, [&](Index b, Index h, Index i, Index d) {
      target(b, h, i, d) = static_cast<float>(numbers[n++]);
    });
  };
  fill(results.output, exact.output);
  fill(results.weights, exact.weights);
  fill(results.log_sum_exp, exact.log_sum_exp);
  fill(results.scores, exact.scores[static_cast<std::size_t>(ScoreStage::masked)]);
  fill(results.entropy, exact.entropy);
  return results;
}

/// Every option that changes scores or weights.
AttentionTensors make_tensors_with_options(Random& random) {
  AttentionCase one = kCase;
  one.softcap = 1.5F;
  one.has_alibi = one.has_sinks = true;
  AttentionTensors tensors = make_tensors(random, one);
  tensors.alibi_slopes = {0.25F, 0.01F};
  tensors.sinks = {3.0F, 1.0F};
  tensors.options.alibi_slopes = tensors.alibi_slopes.data();
  tensors.options.sinks = tensors.sinks.data();
  return tensors;
}

}  // namespace

TEST_CASE("the error model accepts the reference rounded to float") {
  Random random(10);
  const AttentionTensors tensors = make_tensors(random, kCase);
  const Comparison comparison =
      compare(expect(tensors.inputs(), tensors.options), rounded(tensors.inputs(), tensors.options));
  INFO(comparison.where);
  CHECK(comparison.worst() < 1.0);
}

TEST_CASE("the error model rejects a scale that is wrong by 1e-4") {
  Random random(11);
  const AttentionTensors tensors = make_tensors(random, kCase);
  const auto scale = static_cast<float>(scale_of(tensors.inputs(), tensors.options) * 1.0001);
  const Comparison comparison =
      compare(expect(tensors.inputs(), tensors.options), rounded(tensors.inputs(), {.scale = scale}));
  CHECK(comparison.output > 10.0);
  CHECK(comparison.weights > 10.0);
  CHECK(comparison.log_sum_exp > 10.0);
}

TEST_CASE("the error model rejects results that lack one key of a hundred") {
  Random random(12);
  const AttentionTensors tensors = make_tensors(random, kCase);
  Owned<std::uint8_t> mask = allocate<std::uint8_t>({1, 1, 1, kCase.keys}, Layout::bhnd, 1);
  mask(0, 0, 0, 57) = 0;
  AttentionInputs wrong = tensors.inputs();
  wrong.mask = mask.reading();
  const Comparison comparison = compare(expect(tensors.inputs(), tensors.options), rounded(wrong, tensors.options));
  CHECK(comparison.output > 1000.0);
  CHECK(comparison.log_sum_exp > 1000.0);
}

TEST_CASE("the error model rejects a causal triangle that is off by one") {
  Random random(13);
  AttentionCase one = kCase;
  one.queries = one.keys;
  one.causal = Causal::lower_right;
  const AttentionTensors tensors = make_tensors(random, one);
  AttentionInputs longer = tensors.inputs();
  Results wrong = rounded(longer, tensors.options);
  for (Index e = 0; e < one.value_dim; ++e) wrong.output(0, 0, 41, e) = wrong.output(0, 0, 40, e);
  CHECK(compare(expect(longer, tensors.options), wrong).output > 1000.0);
}

TEST_CASE("the error model rejects a bias that is added before the scale") {
  Random random(14);
  AttentionCase one = kCase;
  one.bias = one.score_shape();
  AttentionTensors tensors = make_tensors(random, one);
  const Expected expected = expect(tensors.inputs(), tensors.options);
  const auto scale = static_cast<float>(scale_of(tensors.inputs(), tensors.options));
  for (float& number : tensors.bias.numbers) number *= scale;
  CHECK(compare(expected, rounded(tensors.inputs(), tensors.options)).worst() > 1000.0);
}

TEST_CASE("the error model accepts the reference rounded to float with every option on") {
  Random random(17);
  const AttentionTensors tensors = make_tensors_with_options(random);
  const Comparison comparison =
      compare(expect(tensors.inputs(), tensors.options), rounded(tensors.inputs(), tensors.options));
  INFO(comparison.where);
  CHECK(comparison.worst() < 1.0);
}

TEST_CASE("the error model rejects a softcap, a slope and a sink that are wrong by 1e-4") {
  Random random(18);
  AttentionTensors tensors = make_tensors_with_options(random);
  const Expected expected = expect(tensors.inputs(), tensors.options);
  AttentionOptions wrong = tensors.options;
  wrong.softcap = 1.50015F;
  CHECK(compare(expected, rounded(tensors.inputs(), wrong)).output > 2.0);
  CHECK(compare(expected, rounded(tensors.inputs(), wrong)).scores > 10.0);
  tensors.alibi_slopes = {0.250025F, 0.01F};
  tensors.options.alibi_slopes = tensors.alibi_slopes.data();
  CHECK(compare(expected, rounded(tensors.inputs(), tensors.options)).scores > 10.0);
  tensors.alibi_slopes[0] = 0.25F;
  tensors.sinks = {3.0003F, 1.0F};
  tensors.options.sinks = tensors.sinks.data();
  CHECK(compare(expected, rounded(tensors.inputs(), tensors.options)).log_sum_exp > 2.0);
}

TEST_CASE("the error model rejects an entropy that is off by one part in 100000") {
  Random random(19);
  const AttentionTensors tensors = make_tensors(random, kCase);
  Results wrong = rounded(tensors.inputs(), tensors.options);
  wrong.entropy(0, 1, 39, 0) *= 1.00001F;
  CHECK(compare(expect(tensors.inputs(), tensors.options), wrong).entropy > 1.0);
}

TEST_CASE("the error model rejects one output of one row that is off by one part in 100000") {
  Random random(15);
  const AttentionTensors tensors = make_tensors(random, kCase);
  Results wrong = rounded(tensors.inputs(), tensors.options);
  wrong.output(0, 1, 39, 15) += 1e-5F;
  CHECK(compare(expect(tensors.inputs(), tensors.options), wrong).output > 1.0);
}

TEST_CASE("the error model allows no more than twenty times the errors that kernels make") {
  Random random(16);
  AttentionCase one = kCase;
  one.queries = 10000;  // the largest error of so many rows hardly depends on the seed
  const AttentionTensors tensors = make_tensors(random, one);
  const Expected expected = expect(tensors.inputs(), tensors.options);
  const Comparison comparison = compare(expected, run(tensors.inputs(), tensors.options));
  INFO(" output " << comparison.output << " weights " << comparison.weights << " lse " << comparison.log_sum_exp);
  CHECK(comparison.output > 0.05);
  CHECK(comparison.weights > 0.05);
  CHECK(comparison.log_sum_exp > 0.05);
  CHECK(comparison.entropy > 0.05);
}

}  // namespace heed::testing
