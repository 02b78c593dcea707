// Normalizers and top-k: each alone and in random company against the reference, where they are exact, and what
// they have in common with a softmax.
#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <numeric>

#include "attention_check.hpp"

namespace heed::testing {
namespace {

constexpr int kCases = 300;

/// Several blocks of keys, more than one task, heads that share keys.
const AttentionCase kCase = {
    .batch = 2, .heads = 4, .kv_heads = 2, .queries = 41, .keys = 203, .head_dim = 9, .value_dim = 7};

constexpr std::array kNormalizers = {Normalizer::softmax, Normalizer::sparsemax, Normalizer::sigmoid, Normalizer::hard,
                                     Normalizer::none};

/// Small whole numbers: their products and sums are exact, and many are equal.
void make_whole(Random& random, AttentionTensors& tensors) {
  for (Owned<float>* tensor : {&tensors.query, &tensors.key}) {
    for (float& number : tensor->numbers) number = static_cast<float>(random.below(5)) - 2.0F;
  }
}

Index count_weights(const Results& results, const RowPosition& row, Index keys) {
  Index count = 0;
  for (Index j = 0; j < keys; ++j) count += results.weights(row.b, row.h, row.i, j) != 0.0F;
  return count;
}

}  // namespace

TEST_CASE("each normalizer alone, with all keys or the best, stays within the error model") {
  Random random(320);
  for (const Normalizer normalizer : kNormalizers) {
    for (const std::optional<Index> top_k :
         {std::optional<Index>{}, std::optional<Index>{1}, std::optional<Index>{10}}) {
      for (const Index queries : {41, 1}) {
        AttentionCase one = kCase;
        one.normalizer = normalizer;
        one.top_k = top_k;
        one.queries = queries;
        check_all_results(random, one);
      }
    }
  }
}

TEST_CASE("normalizers in any company stay within the error model") {
  Random random(321);
  for (int n = 0; n < kCases; ++n) {
    AttentionCase one = sizes_around_blocks(random);
    add_random_options(random, one);
    if (random.chance(0.3)) one.score = random_score(random);
    if (random.chance(0.3)) one.scale = random.normal();
    choose_normalizer(random, one);
    check_all_results(random, one);
  }
}

TEST_CASE("a hard maximum of whole numbers gives the value of the first best key, bit for bit") {
  Random random(322);
  for (const Index keys : {1, 7, 96, 300}) {
    AttentionCase one = {.heads = 2, .queries = 33, .keys = keys, .head_dim = 4, .normalizer = Normalizer::hard};
    one.score.kind = ScoreKind::dot;
    AttentionTensors tensors = make_tensors(random, one);
    make_whole(random, tensors);
    const reference::AttentionResult exact = reference::attention(tensors.inputs(), tensors.options);
    const Results results = run(tensors.inputs(), tensors.options);
    std::size_t row = 0;
    for_each_element({1, 2, one.queries, 1}, [&](Index b, Index h, Index i, Index) {
      const auto scores =
          std::span(exact.scores[2]).subspan(row++ * static_cast<std::size_t>(keys), static_cast<std::size_t>(keys));
      const Index best = std::ranges::max_element(scores) - scores.begin();
      for (Index j = 0; j < keys; ++j) CHECK(results.weights(b, h, i, j) == (j == best ? 1.0F : 0.0F));
      for (Index e = 0; e < one.value_dim; ++e) {
        CHECK(results.output(b, h, i, e) == tensors.value(b, 0, best, e));
      }
      CHECK(results.entropy(b, h, i, 0) == 0.0F);
    });
  }
}

TEST_CASE("the best keys are as many as asked for, the first of equals, whatever their number") {
  Random random(323);
  for (const Index top_k : {1, 2, 5, 64, 199, 200, 201}) {
    AttentionCase one = {.queries = 20, .keys = 200, .head_dim = 3, .normalizer = Normalizer::sigmoid, .top_k = top_k};
    one.score.kind = ScoreKind::dot;
    AttentionTensors tensors = make_tensors(random, one);
    // Keys come in pairs: equal scores whatever the arithmetic.
    for_each_element(one.key_shape(), [&](Index b, Index h, Index j, Index d) {
      tensors.key(b, h, j, d) = tensors.key(b, h, j / 2 * 2, d);
    });
    const Results results = run(tensors.inputs(), tensors.options, {.scores = ScoreStage::masked});
    for (Index i = 0; i < one.queries; ++i) {
      CHECK(count_weights(results, {0, 0, i}, one.keys) == std::min<Index>(top_k, 200));
      float lowest_kept = kInfinity, highest_dropped = -kInfinity;
      Index wrong = 0;
      for (Index j = 0; j < one.keys; ++j) {
        const bool is_kept = results.weights(0, 0, i, j) != 0.0F;
        if (is_kept) lowest_kept = std::min(lowest_kept, results.scores(0, 0, i, j));
        if (!is_kept) highest_dropped = std::max(highest_dropped, results.scores(0, 0, i, j));
        // Of a pair, the second is kept only beside the first.
        if (j % 2 == 1) wrong += is_kept && results.weights(0, 0, i, j - 1) == 0.0F;
      }
      CHECK(highest_dropped <= lowest_kept);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("as many best keys as there are change nothing") {
  Random random(324);
  for (const Normalizer normalizer : kNormalizers) {
    AttentionCase one = kCase;
    one.normalizer = normalizer;
    AttentionTensors tensors = make_tensors(random, one);
    AttentionOptions all = tensors.options;
    all.top_k = static_cast<std::int32_t>(one.keys);
    CHECK(run(tensors.inputs(), tensors.options).bits() == run(tensors.inputs(), all).bits());
  }
}

TEST_CASE("the best keys are chosen of those that masks leave") {
  Random random(325);
  AttentionCase one = kCase;
  one.top_k = 12;
  one.causal = Causal::lower_right;
  one.mask = Shape{1, 1, 41, 203};
  check_all_results(random, one);
  one.causal = Causal::none;
  one.mask = Shape{1, 1, 1, 203};
  AttentionTensors tensors = make_tensors(random, one);
  for (float& number : tensors.key.numbers) number = std::abs(number);
  for (float& number : tensors.query.numbers) number = std::abs(number);
  const auto before = run(tensors.inputs(), tensors.options).bits();
  AttentionTensors louder = make_tensors(random, one);
  louder.key.numbers = tensors.key.numbers;
  for_each_element(one.key_shape(), [&](Index b, Index h, Index j, Index d) {
    if (tensors.mask(0, 0, 0, j) == 0) louder.key(b, h, j, d) = 100.0F;
  });
  AttentionInputs inputs = tensors.inputs();
  inputs.key = louder.key.reading();
  CHECK(run(inputs, tensors.options).bits() == before);
}

TEST_CASE("sparsemax of equal scores is their mean, of one far above the others that one, bit for bit") {
  Random random(326);
  for (const Index keys : {1, 2, 64, 97, 1000}) {
    AttentionCase one = {.queries = 9, .keys = keys, .scale = 0.0F, .normalizer = Normalizer::sparsemax};
    AttentionTensors tensors = make_tensors(random, one);
    const Results results = run(tensors.inputs(), tensors.options);
    for (Index j = 0; j < keys; ++j) {
      CHECK(results.weights(0, 0, 8, j) == Catch::Approx(1.0 / static_cast<double>(keys)).epsilon(1e-4));
    }
    CHECK(results.entropy(0, 0, 8, 0) == Catch::Approx(std::log(static_cast<double>(keys))).margin(1e-6).epsilon(1e-4));
  }
  AttentionCase one = {.queries = 20, .keys = 150, .normalizer = Normalizer::sparsemax};
  AttentionTensors tensors = make_tensors(random, one);
  tensors.bias = allocate({1, 1, 1, 150}, Layout::bhnd, 0.0F);
  tensors.bias(0, 0, 0, 101) = 1000.0F;
  const Results results = run(tensors.inputs(), tensors.options);
  for (Index i = 0; i < 20; ++i) {
    CHECK(results.output(0, 0, i, 3) == tensors.value(0, 0, 101, 3));
    CHECK(count_weights(results, {0, 0, i}, 150) == 1);
  }
}

TEST_CASE("sparsemax of scores that are a long stair finds the step, whichever way it leads") {
  // Scores -n / 40: the weights are those of the first keys, found by hand from n (n - 1) / 80 < 1: nine of them.
  for (const bool is_rising : {false, true}) {
    Owned<float> query = allocate({1, 1, 1, 1}, Layout::bhnd, 1.0F);
    Owned<float> key = allocate({1, 1, 500, 1}, Layout::bhnd, 0.0F);
    Owned<float> value = allocate({1, 1, 500, 1}, Layout::bhnd, 1.0F);
    for (Index j = 0; j < 500; ++j) key(0, 0, is_rising ? 499 - j : j, 0) = -static_cast<float>(j) / 40.0F;
    const AttentionOptions options{{}, {}, {.normalizer = Normalizer::sparsemax}};
    const AttentionInputs inputs{query.reading(), key.reading(), value.reading(), {}, {}};
    const Results results = run(inputs, options);
    CHECK(count_weights(results, {0, 0, 0}, 500) == 9);
    CHECK(results.output(0, 0, 0, 0) == Catch::Approx(1.0).epsilon(1e-6));
  }
}

TEST_CASE("a constant added to every score changes neither a softmax nor a sparsemax nor the best key") {
  Random random(327);
  for (const Normalizer normalizer : {Normalizer::softmax, Normalizer::sparsemax, Normalizer::hard}) {
    AttentionCase one = kCase;
    one.normalizer = normalizer;
    AttentionTensors tensors = make_tensors(random, one);
    const Owned<float> bias = allocate<float>({1, 1, 1, 1}, Layout::bhnd, 4.0F);
    AttentionInputs shifted = tensors.inputs();
    shifted.bias = bias.reading();
    const Expected expected = expect(tensors.inputs(), tensors.options);
    Expected wider = expect(shifted, tensors.options);
    for (std::size_t row = 0; row < wider.bounds.size(); ++row) {
      for (std::size_t e = 0; e < wider.bounds[row].output.size(); ++e) {
        wider.bounds[row].output[e] += expected.bounds[row].output[e];
      }
    }
    wider.result.output = expected.result.output;
    CHECK(compare(wider, run(shifted, tensors.options)).output <= 1.0);
  }
}

TEST_CASE("without a normalizer attention is linear in the scale, bit for bit for powers of two") {
  Random random(328);
  AttentionCase one = kCase;
  one.normalizer = Normalizer::none;
  one.scale = 1.0F;
  AttentionTensors tensors = make_tensors(random, one);
  AttentionOptions four = tensors.options;
  four.scale = 4.0F;
  const Results single = run(tensors.inputs(), tensors.options);
  const Results fourfold = run(tensors.inputs(), four);
  Index wrong = 0;
  for_each_element(single.output.view.shape, [&](Index b, Index h, Index i, Index e) {
    wrong += fourfold.output(b, h, i, e) != 4.0F * single.output(b, h, i, e);
  });
  CHECK(wrong == 0);
}

TEST_CASE("permuting keys and values together changes nothing, whatever the normalizer") {
  Random random(329);
  for (const Normalizer normalizer : kNormalizers) {
    for (const std::optional<Index> top_k : {std::optional<Index>{}, std::optional<Index>{20}}) {
      AttentionCase one = {.queries = 30, .keys = 170, .normalizer = normalizer, .top_k = top_k};
      AttentionTensors tensors = make_tensors(random, one);
      const Expected expected = expect(tensors.inputs(), tensors.options);
      std::vector<Index> order(170);
      std::iota(order.begin(), order.end(), Index{0});
      for (std::size_t n = 169; n > 0; --n) {
        std::swap(order[n], order[static_cast<std::size_t>(random.below(static_cast<Index>(n) + 1))]);
      }
      AttentionTensors mixed = make_tensors(random, one);
      for_each_element(one.key_shape(), [&](Index b, Index h, Index j, Index d) {
        mixed.key(b, h, j, d) = tensors.key(b, h, order[static_cast<std::size_t>(j)], d);
        mixed.value(b, h, j, d) = tensors.value(b, h, order[static_cast<std::size_t>(j)], d);
      });
      AttentionInputs inputs = mixed.inputs();
      inputs.query = tensors.query.reading();
      INFO(describe(one));
      CHECK(compare(expected, run(inputs, tensors.options, {.weights = false})).output <= 1.0);
    }
  }
}

TEST_CASE("any number of workers and any company of rows gives the bits of one, for every normalizer") {
  Random random(330);
  for (const Normalizer normalizer : kNormalizers) {
    for (const std::optional<Index> top_k : {std::optional<Index>{}, std::optional<Index>{20}}) {
      AttentionCase one = kCase;
      one.queries = 140;
      one.normalizer = normalizer;
      one.top_k = top_k;
      INFO(describe(one));
      check_workers(make_tensors(random, one), {2, 7});
    }
  }
}

TEST_CASE("the mean of the weights over the heads is that of the weights, whatever the normalizer") {
  Random random(331);
  for (const Normalizer normalizer : kNormalizers) {
    for (const std::optional<Index> top_k : {std::optional<Index>{}, std::optional<Index>{20}}) {
      for (const Index queries : {41, 1}) {
        AttentionCase one = kCase;
        one.queries = queries;
        one.normalizer = normalizer;
        one.top_k = top_k;
        const AttentionTensors tensors = make_tensors(random, one);
        const Results results = run(tensors.inputs(), tensors.options);
        Owned<float> mean = allocate({2, 1, queries, 203}, Layout::bhnd, kUntouched);
        AttentionOutputs outputs = results.outputs();
        outputs.mean_weights = mean.view;
        REQUIRE(attention(tensors.inputs(), tensors.options, outputs, calling_thread()).is_ok());
        Index wrong = 0;
        for_each_element(mean.view.shape, [&](Index b, Index, Index i, Index j) {
          double sum = 0.0, sizes = 0.0;
          for (Index h = 0; h < 4; ++h) {
            sum += static_cast<double>(results.weights(b, h, i, j)) / 4.0;
            sizes += std::abs(static_cast<double>(results.weights(b, h, i, j))) / 4.0;
          }
          // Four products and three sums.
          wrong += !(std::abs(static_cast<double>(mean(b, 0, i, j)) - sum) <= 8.0 * kUnitRoundoff * sizes);
        });
        INFO(describe(one));
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("a NaN in a query, or in a key that it sees, makes its results NaN, whatever the normalizer") {
  Random random(332);
  for (const Normalizer normalizer : kNormalizers) {
    for (const std::optional<Index> top_k : {std::optional<Index>{}, std::optional<Index>{20}}) {
      AttentionCase one = kCase;
      one.normalizer = normalizer;
      one.top_k = top_k;
      one.causal = Causal::lower_right;
      AttentionTensors tensors = make_tensors(random, one);
      const Results clean = run(tensors.inputs(), tensors.options);
      tensors.key(1, 1, 190, 5) = kNan;
      tensors.query(0, 0, 17, 3) = kNan;
      const Results results = run(tensors.inputs(), tensors.options);
      Index wrong = 0;
      for_each_element(results.output.view.shape, [&](Index b, Index h, Index i, Index e) {
        const bool is_reached = (b == 1 && h >= 2 && i + 162 >= 190) || (b == 0 && h == 0 && i == 17);
        wrong += std::isnan(results.output(b, h, i, e)) != is_reached;
      });
      INFO(describe(one));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("a value without weight is not read, NaN or not") {
  Random random(333);
  for (const Normalizer normalizer : {Normalizer::sparsemax, Normalizer::hard, Normalizer::softmax}) {
    AttentionCase one = {.queries = 12, .keys = 130, .scale = 20.0F, .normalizer = normalizer};
    if (normalizer == Normalizer::softmax) {
      one.top_k = 3;
      // Weights of a larger scale may be too small for f32, and their values are read.
      one.scale = 1.0F;
    }
    AttentionTensors tensors = make_tensors(random, one);
    const Results clean = run(tensors.inputs(), tensors.options);
    Owned<float> spoilt = allocate(one.value_shape(), Layout::bhnd, 0.0F);
    std::ranges::copy(tensors.value.numbers, spoilt.numbers.begin());
    for (Index j = 0; j < one.keys; ++j) {
      bool is_read = false;
      for (Index i = 0; i < one.queries; ++i) is_read |= clean.weights(0, 0, i, j) != 0.0F;
      for (Index e = 0; e < one.value_dim && !is_read; ++e) spoilt(0, 0, j, e) = e % 2 == 0 ? kNan : kInfinity;
    }
    AttentionInputs inputs = tensors.inputs();
    inputs.value = spoilt.reading();
    const Results results = run(inputs, tensors.options);
    CHECK(results.bits() == clean.bits());
  }
}

TEST_CASE("a softmax that is cold is the hard maximum, one that is hot the mean") {
  Random random(334);
  AttentionCase one = {.queries = 30, .keys = 100, .scale = 1e7F};
  AttentionTensors tensors = make_tensors(random, one);
  AttentionOptions hard = tensors.options;
  hard.normalizer = Normalizer::hard;
  AttentionOptions hot = tensors.options;
  hot.scale = 1e-9F;
  const Results cold = run(tensors.inputs(), tensors.options);
  const Results first = run(tensors.inputs(), hard);
  CHECK(cold.output.numbers == first.output.numbers);
  const Results mean = run(tensors.inputs(), hot);
  for (Index e = 0; e < one.value_dim; ++e) {
    double sum = 0.0;
    for (Index j = 0; j < 100; ++j) sum += static_cast<double>(tensors.value(0, 0, j, e)) / 100.0;
    CHECK(mean.output(0, 0, 29, e) == Catch::Approx(sum).margin(1e-6));
  }
}

TEST_CASE("results that a normalizer does not have are refused, and options that only a softmax has") {
  Random random(335);
  const AttentionTensors tensors = make_tensors(random, {.heads = 2, .queries = 3, .keys = 5});
  const float sinks[] = {0.0F, 0.0F};
  const auto check_refused = [&](const AttentionOptions& options, bool lse, bool entropy, const std::string& rule) {
    Results results(tensors.inputs(), {.entropy = entropy, .log_sum_exp = lse});
    const Status status = attention(tensors.inputs(), options, results.outputs(), calling_thread());
    CHECK(status.code() == StatusCode::option);
    CHECK_THAT(std::string(status.message()), Catch::Matchers::ContainsSubstring(rule));
    CHECK(results.output.numbers[0] == kUntouched);
  };
  for (const Normalizer normalizer : {Normalizer::sparsemax, Normalizer::sigmoid, Normalizer::hard, Normalizer::none}) {
    check_refused({{}, {}, {.normalizer = normalizer}}, true, false, "lse is that of a softmax");
    check_refused({{}, {}, {.normalizer = normalizer, .sinks = sinks}}, false, false, "sinks join a sum");
  }
  check_refused({{}, {}, {.normalizer = Normalizer::sigmoid}}, false, true,
                "entropy is that of weights which add up to 1");
  check_refused({{}, {}, {.normalizer = Normalizer::none}}, false, true,
                "entropy is that of weights which add up to 1");
  check_refused({{}, {}, {.normalizer = static_cast<Normalizer>(5)}}, false, false, "normalize must be one of");
  check_refused({{}, {}, {.top_k = -1}}, false, false, "topK must be a whole number, 1 or more");
}

}  // namespace heed::testing
