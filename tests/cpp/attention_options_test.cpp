// Softcap, windows, lengths, offsets, ALiBi and sinks: each alone, and in random company.
#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <functional>

#include "attention_check.hpp"

namespace heed::testing {
namespace {

constexpr int kCases = 250;

/// Several blocks of keys, more than one task, heads that share keys.
const AttentionCase kCase = {
    .batch = 3, .heads = 4, .kv_heads = 2, .queries = 41, .keys = 203, .head_dim = 9, .value_dim = 7};

}  // namespace

TEST_CASE("each option alone stays within the error model, scores and entropy too") {
  const std::vector<std::function<void(AttentionCase&)>> options = {
      [](AttentionCase&) {},
      [](AttentionCase& one) { one.softcap = 1.5F; },
      [](AttentionCase& one) { one.window.left = 7; },
      [](AttentionCase& one) { one.window.right = 3; },
      [](AttentionCase& one) { one.window = {.left = 0, .right = 0}; },
      [](AttentionCase& one) { one.has_query_lengths = true; },
      [](AttentionCase& one) { one.has_key_lengths = true; },
      [](AttentionCase& one) { one.has_query_offsets = true; },
      [](AttentionCase& one) { one.has_alibi = true; },
      [](AttentionCase& one) { one.has_sinks = true; },
      [](AttentionCase& one) { one.mask = Shape{3, 1, 41, 203}; },
      [](AttentionCase& one) { one.bias = Shape{1, 4, 41, 203}; },
  };
  Random random(170);
  for (const auto& set : options) {
    for (const Causal causal : {Causal::none, Causal::lower_right, Causal::upper_left}) {
      AttentionCase one = kCase;
      one.causal = causal;
      set(one);
      check_all_results(random, one);
    }
  }
}

TEST_CASE("options in any company stay within the error model, scores and entropy too") {
  Random random(171);
  for (int n = 0; n < kCases; ++n) {
    AttentionCase one = sizes_around_blocks(random);
    add_random_options(random, one);
    check_all_results(random, one);
  }
}

TEST_CASE("scores far beyond the softcap come out as the softcap") {
  Random random(172);
  AttentionCase one = kCase;
  one.softcap = 3.0F;
  for (const float deviation : {30.0F, 1e6F}) {
    one.deviation = deviation;
    check_all_results(random, one);
  }
  one.deviation = 1e6F;
  const AttentionTensors tensors = make_tensors(random, one);
  const Results results = run(tensors.inputs(), tensors.options, {.scores = ScoreStage::capped});
  for_each_element(one.score_shape(), [&](Index b, Index h, Index i, Index j) {
    CHECK(std::abs(results.scores(b, h, i, j)) <= 3.0F * (1.0F + 4.0F * static_cast<float>(kUnitRoundoff)));
  });
}

TEST_CASE("a softcap of any size that is taken stays within the error model") {
  Random random(179);
  AttentionCase one = {.queries = 9, .keys = 60};
  for (const float softcap : {1e-30F, 1e-10F, 1e-3F, 1e6F, 1e30F}) {
    one.softcap = softcap;
    check_all_results(random, one);
  }
}

TEST_CASE("windows far from the first key see what they should and nothing before it") {
  Random random(173);
  for (const Index left : {0, 3, 47, 48, 96}) {
    for (const Causal causal : {Causal::none, Causal::lower_right}) {
      AttentionCase one = {.heads = 2, .queries = 70, .keys = 1100, .causal = causal};
      one.window = {.left = left, .right = 2};
      INFO(describe(one));
      AttentionTensors tensors = make_tensors(random, one);
      check_all_results(tensors);
      // Query 0 stands at 1030: no key more than `left` before it concerns anyone.
      const auto clean = run(tensors.inputs(), tensors.options).bits();
      std::vector<float> keys = tensors.key.numbers, values = tensors.value.numbers;
      std::fill_n(tensors.key.numbers.begin(), (1030 - left) * one.head_dim, kNan);
      std::fill_n(tensors.value.numbers.begin(), (1030 - left) * one.value_dim, kNan);
      CHECK(run(tensors.inputs(), tensors.options).bits() == clean);
      std::ranges::copy(keys, tensors.key.numbers.begin());
      std::ranges::copy(values, tensors.value.numbers.begin());
    }
  }
}

TEST_CASE("a window of nothing but the query's own key gives that key's value") {
  Random random(174);
  AttentionCase one = {.heads = 2, .queries = 90, .keys = 120};
  one.window = {.left = 0, .right = 0};
  const AttentionTensors tensors = make_tensors(random, one);
  const Results results = run(tensors.inputs(), tensors.options);
  for_each_element(one.output_shape(), [&](Index b, Index h, Index i, Index e) {
    CHECK(results.output(b, h, i, e) == tensors.value(b, 0, i + 30, e));
    CHECK(results.entropy(b, h, i, 0) == 0.0F);
  });
}

TEST_CASE("offsets before the first key leave exactly the rows empty that see none") {
  Random random(175);
  const AttentionCase one = {.batch = 2, .queries = 20, .keys = 30, .causal = Causal::lower_right};
  AttentionTensors tensors = make_tensors(random, one);
  tensors.query_offsets = {-7, -100};
  tensors.options.query_offsets = tensors.query_offsets.data();
  check_all_results(tensors);
  const Results results = run(tensors.inputs(), tensors.options);
  for_each_element(one.output_shape(), [&](Index b, Index h, Index i, Index e) {
    const bool is_empty = b == 1 || i < 7;
    CHECK((results.output(b, h, i, e) == 0.0F) == is_empty);
    CHECK((results.log_sum_exp(b, h, i, 0) == -kInfinity) == is_empty);
    if (is_empty) CHECK(results.entropy(b, h, i, 0) == 0.0F);
  });
}

TEST_CASE("the entropy of equal scores is the logarithm of how many there are") {
  Random random(176);
  for (const Index keys : {1, 2, 96, 97, 1000}) {
    const AttentionCase one = {.queries = 9, .keys = keys, .scale = 0.0F};
    const AttentionTensors tensors = make_tensors(random, one);
    const Results results = run(tensors.inputs(), tensors.options);
    CHECK(results.entropy(0, 0, 8, 0) == Catch::Approx(std::log(static_cast<double>(keys))).epsilon(1e-6));
  }
}

TEST_CASE("keys that a bias puts out of reach leave the entropy to the others, wherever they come") {
  Random random(177);
  for (const float never : {-1e9F, -1e30F, std::numeric_limits<float>::lowest()}) {
    for (const bool comes_first : {true, false}) {
      AttentionTensors tensors = make_tensors(random, {.queries = 9, .keys = 300});
      tensors.bias = allocate({1, 1, 1, 300}, Layout::bhnd, 0.0F);
      for (Index j = 0; j < 200; ++j) tensors.bias(0, 0, 0, comes_first ? j : 299 - j) = never;
      const Expected expected = expect(tensors.inputs(), {});
      const Comparison comparison = compare(expected, run(tensors.inputs(), {}));
      INFO(", bias " << never << ", first " << comes_first << ": " << comparison.where);
      CHECK(comparison.worst() <= 1.0);
    }
  }
}

TEST_CASE("one score beyond all others has an entropy of zero, however large it is") {
  Random random(178);
  for (const float size : {1e3F, 1e10F, 1e18F, 1e19F}) {
    AttentionTensors tensors = make_tensors(random, {.queries = 1, .keys = 150, .scale = 1.0F});
    std::ranges::fill(tensors.key.numbers, 0.0F);
    std::ranges::fill(tensors.query.numbers, 0.0F);
    tensors.query(0, 0, 0, 3) = tensors.key(0, 0, 120, 3) = size;
    const Results results = run(tensors.inputs(), tensors.options);
    INFO(", score " << size << " squared");
    CHECK(std::abs(results.entropy(0, 0, 0, 0)) <= 1e-6F);
    CHECK(results.output(0, 0, 0, 2) == tensors.value(0, 0, 120, 2));
  }
}

}  // namespace heed::testing
