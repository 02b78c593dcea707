// Dropout: what it keeps, how often, and that what it drops reaches no result.
#include <array>
#include <catch_amalgamated.hpp>
#include <cmath>

#include "attention_check.hpp"
#include "kernels/softmax/dropout_hash.hpp"

namespace heed::testing {
namespace {

/// Equal scores, so that a weight says no more than whether it was kept.
AttentionTensors make_equal(Random& random, const AttentionCase& one) {
  AttentionTensors tensors = make_tensors(random, one);
  tensors.options.scale = 0.0F;
  return tensors;
}

/// Six standard deviations of a mean of `count` throws, beyond which one in 5e8 falls.
double tolerance(double p, double count) { return 6.0 * std::sqrt(p * (1.0 - p) / count); }

}  // namespace

TEST_CASE("dropout stays within the error model, in the company of other options") {
  Random random(230);
  for (const float p : {0.0F, 1e-12F, 0.1F, 0.5F, 0.9F, 1.0F}) {
    for (const bool in_company : {false, true}) {
      AttentionCase one{.batch = 2, .heads = 4, .kv_heads = 2, .queries = 37, .keys = 203, .value_dim = 7};
      one.dropout = Dropout{.p = p, .seed = 4000000000U};
      if (in_company) {
        one.causal = Causal::lower_right;
        one.mask = Shape{1, 4, 37, 203};
        one.softcap = 2.0F;
        one.has_alibi = one.has_sinks = one.has_key_lengths = true;
      }
      check_all_results(random, one);
    }
  }
}

TEST_CASE("dropout leaves log-sum-exp, entropy and scores as they are") {
  Random random(231);
  const AttentionCase one{.heads = 2, .queries = 20, .keys = 150};
  const AttentionTensors tensors = make_tensors(random, one);
  AttentionOptions options = tensors.options;
  options.dropout = Dropout{.p = 0.5F, .seed = 3};
  const Results with = run(tensors.inputs(), options, {.scores = ScoreStage::masked});
  const Results without = run(tensors.inputs(), tensors.options, {.scores = ScoreStage::masked});
  CHECK(with.log_sum_exp.numbers == without.log_sum_exp.numbers);
  CHECK(with.entropy.numbers == without.entropy.numbers);
  CHECK(with.scores.numbers == without.scores.numbers);
  CHECK(with.output.numbers != without.output.numbers);
}

TEST_CASE("a dropout of 0 gives the bits of none, one of 1 zeros") {
  Random random(232);
  const AttentionCase one{.queries = 9, .keys = 100};
  const AttentionTensors tensors = make_tensors(random, one);
  AttentionOptions options = tensors.options;
  options.dropout = Dropout{.p = 0.0F, .seed = 3};
  CHECK(run(tensors.inputs(), options).bits() == run(tensors.inputs(), tensors.options).bits());
  options.dropout = Dropout{.p = 1.0F, .seed = 3};
  const Results none = run(tensors.inputs(), options);
  for_each_element(one.output_shape(),
                   [&](Index b, Index h, Index i, Index e) { CHECK(none.output(b, h, i, e) == 0.0F); });
}

TEST_CASE("dropout drops as often as it says, in every row and for every key") {
  Random random(233);
  constexpr Index kQueries = 300, kKeys = 400;
  const AttentionCase one{.batch = 2, .heads = 3, .queries = kQueries, .keys = kKeys, .head_dim = 1, .value_dim = 1};
  AttentionTensors tensors = make_equal(random, one);
  for (const float p : {0.05F, 0.5F, 0.8F}) {
    for (const std::uint32_t seed : {0U, 1U, 0xFFFFFFFFU}) {
      tensors.options.dropout = Dropout{.p = p, .seed = seed};
      const Results results = run(tensors.inputs(), tensors.options);
      double dropped = 0.0;
      std::vector<double> of_row(6 * kQueries), of_key(kKeys);
      for_each_element(one.score_shape(), [&](Index b, Index h, Index i, Index j) {
        const double is_dropped = results.weights(b, h, i, j) == 0.0F ? 1.0 : 0.0;
        dropped += is_dropped;
        of_row[static_cast<std::size_t>((b * 3 + h) * kQueries + i)] += is_dropped;
        of_key[static_cast<std::size_t>(j)] += is_dropped;
      });
      INFO("p " << p << ", seed " << seed);
      const double rows = 6.0 * kQueries;
      CHECK(std::abs(dropped / (rows * kKeys) - p) <= tolerance(p, rows * kKeys));
      for (const double count : of_row) CHECK(std::abs(count / kKeys - p) <= tolerance(p, kKeys));
      for (const double count : of_key) CHECK(std::abs(count / rows - p) <= tolerance(p, rows));
    }
  }
}

TEST_CASE("what dropout keeps of one row, key or seed says nothing of the next") {
  Random random(234);
  constexpr Index kQueries = 256, kKeys = 256;
  const AttentionCase one{.heads = 2, .queries = kQueries, .keys = kKeys, .head_dim = 1, .value_dim = 1};
  AttentionTensors tensors = make_equal(random, one);
  const auto kept_with = [&](std::uint32_t seed) {
    tensors.options.dropout = Dropout{.p = 0.5F, .seed = seed};
    return run(tensors.inputs(), tensors.options);
  };
  const Results results = kept_with(8);
  const Results others = kept_with(9);
  const auto sign = [](float weight) { return weight == 0.0F ? -1.0 : 1.0; };
  // How far a neighbour is, in head, query and key; the last is the same place under another seed.
  constexpr std::array<std::array<Index, 3>, 7> kSteps = {
      {{0, 0, 1}, {0, 0, 2}, {0, 1, 0}, {0, 1, 1}, {0, 2, 1}, {1, 0, 0}, {0, 0, 0}}};
  for (const auto& [heads, queries, keys] : kSteps) {
    const bool is_other_seed = heads + queries + keys == 0;
    double agreement = 0.0;
    double count = 0.0;
    for_each_element({1, 2 - heads, kQueries - queries, kKeys - keys}, [&](Index b, Index h, Index i, Index j) {
      const Results& neighbours = is_other_seed ? others : results;
      agreement += sign(results.weights(b, h, i, j)) * sign(neighbours.weights(b, h + heads, i + queries, j + keys));
      count += 1.0;
    });
    INFO("steps " << heads << " " << queries << " " << keys);
    CHECK(std::abs(agreement / count) <= 6.0 / std::sqrt(count));
  }
}

TEST_CASE("a dropped value may be NaN or infinite and reaches no result") {
  Random random(235);
  const AttentionCase one{.heads = 2, .queries = 40, .keys = 130, .value_dim = 5};
  AttentionTensors tensors = make_tensors(random, one);
  tensors.options.dropout = Dropout{.p = 0.5F, .seed = 12};
  const Results clean = run(tensors.inputs(), tensors.options);
  for (const float bad : {kNan, kInfinity}) {
    const float good = tensors.value(0, 0, 77, 3);
    tensors.value(0, 0, 77, 3) = bad;
    for (const Wanted& wanted : {Wanted{}, Wanted{.weights = false}}) {
      const Results spoilt = run(tensors.inputs(), tensors.options, wanted);
      int wrong = 0;
      for_each_element(one.output_shape(), [&](Index b, Index h, Index i, Index e) {
        const bool is_reached = e == 3 && clean.weights(b, h, i, 77) != 0.0F;
        const bool is_same = spoilt.output(b, h, i, e) == clean.output(b, h, i, e);
        wrong += is_same == is_reached ? 1 : 0;
      });
      INFO(", " << bad);
      CHECK(wrong == 0);
    }
    tensors.value(0, 0, 77, 3) = good;
  }
}

TEST_CASE("the stream of a row is its own among all rows of a seed") {
  // mix_bits can be undone step by step, so that no two rows can have the same stream.
  const auto unmix = [](std::uint32_t x) {
    x ^= x >> 16U;
    x *= 0x43021123U;  // times 0x846CA68B: 1
    x ^= (x >> 15U) ^ (x >> 30U);
    x *= 0x1D69E2A5U;  // times 0x7FEB352D: 1
    return x ^ (x >> 16U);
  };
  Random random(236);
  for (int n = 0; n < 1000; ++n) {
    const auto row = static_cast<std::uint32_t>(random.below(Index{1} << 32));
    const std::uint32_t of_seed = kernels::mix_bits(std::uint32_t{7} + 0x9E3779B9U);
    CHECK((unmix(kernels::dropout_stream(7, row)) ^ of_seed) == row);
  }
}

}  // namespace heed::testing
