// Weights of some rows, and their mean over the heads.
#include <catch_amalgamated.hpp>
#include <cmath>

#include "attention_check.hpp"
#include "report.hpp"

namespace heed::testing {
namespace {

constexpr int kCases = 80;

AttentionCase random_case(Random& random) {
  const Index group = random.pick(std::vector<Index>{1, 2, 5});
  AttentionCase one{.batch = 1 + random.below(2),
                    .heads = 2 * group,
                    .kv_heads = 2,
                    .queries = random.pick(std::vector<Index>{1, 2, 7, 8, 17, 33, 66, 130}),
                    .keys = random.pick(std::vector<Index>{0, 1, 7, 48, 96, 97, 200}),
                    .head_dim = random.pick(std::vector<Index>{1, 8, 33}),
                    .value_dim = random.pick(std::vector<Index>{1, 10}),
                    .layout = static_cast<Layout>(random.below(4)),
                    .causal = static_cast<Causal>(random.below(3))};
  if (random.chance(0.3)) one.softcap = 2.5F;
  if (random.chance(0.3)) one.window.left = random.below(60);
  one.has_query_lengths = random.chance(0.3);
  one.has_key_lengths = random.chance(0.3);
  one.has_alibi = random.chance(0.3);
  one.has_sinks = random.chance(0.4);
  if (random.chance(0.4)) one.dropout = Dropout{.p = 0.4F, .seed = 77};
  if (random.chance(0.5)) one.mask = Shape{one.batch, random.chance(0.5) ? 1 : one.heads, one.queries, one.keys};
  if (random.chance(0.3)) one.bias = Shape{1, one.heads, 1, one.keys};
  return one;
}

Owned<float> compute_mean(const AttentionTensors& tensors, Executor& executor = calling_thread()) {
  const AttentionInputs inputs = tensors.inputs();
  const Shape& q = inputs.query.shape;
  Owned<float> mean = allocate({q[0], 1, q[2], inputs.key.shape[2]}, Layout::padded, kUntouched);
  AttentionOutputs outputs;
  outputs.mean_weights = mean.view;
  const Status status = attention(inputs, tensors.options, outputs, executor);
  INFO(status.message());
  REQUIRE(status.is_ok());
  return mean;
}

/// The largest error of a mean as a multiple of its bound: the mean of what each head's weight may be wrong, its
/// product with 1 / H, and a rounding of what is summed up for each head.
double worst_mean(const AttentionTensors& tensors, const Expected& expected, const Owned<float>& mean) {
  const Shape& q = tensors.query.view.shape;
  const Index heads = q[1], keys = tensors.key.view.shape[2];
  double worst = 0.0;
  for_each_element(mean.view.shape, [&](Index b, Index, Index i, Index j) {
    double exact = 0.0;
    double bound = 0.0;
    for (Index h = 0; h < heads; ++h) {
      const auto row = static_cast<std::size_t>((b * heads + h) * q[2] + i);
      const std::vector<double>& bounds = expected.bounds[row].weights;
      exact += expected.result.weights[row * static_cast<std::size_t>(keys) + static_cast<std::size_t>(j)];
      bound += bounds[static_cast<std::size_t>(j)];
    }
    exact /= static_cast<double>(heads);
    bound = bound / static_cast<double>(heads) + kUnitRoundoff * exact * static_cast<double>(heads + 2);
    worst = std::max(worst, ratio_of(static_cast<double>(mean(b, 0, i, j)), exact, bound));
  });
  return worst;
}

}  // namespace

TEST_CASE("the mean of the weights over the heads stays within the error model, with every option") {
  Random random(220);
  for (int n = 0; n < kCases; ++n) {
    const AttentionCase one = random_case(random);
    const AttentionTensors tensors = make_tensors(random, one);
    const Expected expected = expect(tensors.inputs(), tensors.options);
    INFO(describe(one));
    const double worst = worst_mean(tensors, expected, compute_mean(tensors));
    report_ratio("mean weights", worst);
    CHECK(worst <= 1.0);
  }
}

TEST_CASE("the mean of the weights has the same bits for any number of workers and any order of tasks") {
  Random random(221);
  AttentionCase one{.batch = 2, .heads = 6, .kv_heads = 2, .queries = 150, .keys = 211};
  one.mask = Shape{1, 6, 150, 211};
  one.softcap = 3.0F;
  const AttentionTensors tensors = make_tensors(random, one);
  const Owned<float> expected = compute_mean(tensors);
  for (const int workers : {2, 3, 64}) {
    ReverseExecutor executor(workers);
    CHECK(compute_mean(tensors, executor).numbers == expected.numbers);
  }
}

TEST_CASE("the mean of weights under large scores adds up to one, for few queries and many") {
  Random random(224);
  for (const float deviation : {300.0F, 1e4F, 1e8F, 1e15F}) {
    for (const Index queries : {1, 2, 40}) {
      const AttentionCase one{.heads = 6,
                              .kv_heads = queries == 1 ? 2 : 6,
                              .queries = queries,
                              .keys = 200,
                              .head_dim = 64,
                              .deviation = deviation};
      const AttentionTensors tensors = make_tensors(random, one);
      INFO(describe(one));
      const Owned<float> mean = compute_mean(tensors);
      for (Index i = 0; i < queries; ++i) {
        double sum = 0.0;
        for (Index j = 0; j < one.keys; ++j) sum += static_cast<double>(mean(0, 0, i, j));
        CHECK(std::abs(sum - 1.0) <= static_cast<double>(one.keys) * kUnitRoundoff + kExp2Error);
      }
    }
  }
}

TEST_CASE("the mean changes no other result, and writes nothing beside itself") {
  Random random(222);
  for (const Index queries : {1, 2, 41}) {
    const AttentionCase one{.heads = 4, .kv_heads = 2, .queries = queries, .keys = 1030, .causal = Causal::lower_right};
    const AttentionTensors tensors = make_tensors(random, one);
    const Results without = run(tensors.inputs(), tensors.options);
    const Results with(tensors.inputs());
    const Owned<float> mean = allocate({1, 1, queries, one.keys}, Layout::padded, kUntouched);
    AttentionOutputs outputs = with.outputs();
    outputs.mean_weights = mean.view;
    REQUIRE(attention(tensors.inputs(), tensors.options, outputs, calling_thread()).is_ok());
    CHECK(with.bits() == without.bits());
    for (Index i = 0; i < queries; ++i) {
      for (Index padding = one.keys; padding < one.keys + 5; ++padding) {
        CHECK(mean.view.at(0, 0, i)[padding] == kUntouched);
      }
    }
  }
}

TEST_CASE("weights of some rows are those rows of all weights, and nothing else changes") {
  Random random(223);
  AttentionCase one{.batch = 2, .heads = 6, .kv_heads = 2, .queries = 45, .keys = 130};
  one.mask = Shape{1, 1, 45, 130};
  for (const Causal causal : {Causal::none, Causal::lower_right}) {
    one.causal = causal;
    const AttentionTensors tensors = make_tensors(random, one);
    const Results all = run(tensors.inputs(), tensors.options);
    for (const auto& [begin, end] :
         {QueryRange{0, 1}, QueryRange{0, 45}, QueryRange{44, 45}, QueryRange{7, 9}, QueryRange{3, 40}}) {
      Results some(tensors.inputs());
      some.weights = allocate({2, 6, end - begin, 130}, Layout::padded, kUntouched);
      AttentionOutputs outputs = some.outputs();
      outputs.weight_rows = {begin, end};
      REQUIRE(attention(tensors.inputs(), tensors.options, outputs, calling_thread()).is_ok());
      INFO(", rows " << begin << " to " << end);
      int wrong = 0;
      for_each_element(some.weights.view.shape, [&](Index b, Index h, Index i, Index j) {
        wrong += some.weights(b, h, i, j) == all.weights(b, h, begin + i, j) ? 0 : 1;
      });
      CHECK(wrong == 0);
      CHECK(some.is_padding_untouched());
      CHECK(some.output.numbers == all.output.numbers);
      CHECK(some.log_sum_exp.numbers == all.log_sum_exp.numbers);
    }
  }
}

}  // namespace heed::testing
