// Packed sequences (cu_seqlens): each gives what it gives alone, and nothing of its neighbours.
#include <catch_amalgamated.hpp>

#include "attention_check.hpp"

namespace heed::testing {
namespace {

constexpr int kCases = 60;

AttentionCase random_packed(Random& random) {
  AttentionCase one{.heads = 4,
                    .kv_heads = random.pick(std::vector<Index>{1, 2, 4}),
                    .queries = random.pick(std::vector<Index>{0, 1, 9, 33, 70}),
                    .keys = random.pick(std::vector<Index>{0, 1, 7, 96, 97, 260}),
                    .head_dim = random.pick(std::vector<Index>{3, 8, 64}),
                    .value_dim = random.pick(std::vector<Index>{1, 7, 33}),
                    .layout = static_cast<Layout>(random.below(4)),
                    .causal = static_cast<Causal>(random.below(3))};
  one.sequences = random.pick(std::vector<Index>{1, 2, 3, 8, 40});
  one.has_query_offsets = random.chance(0.4);
  one.has_alibi = random.chance(0.4);
  one.has_sinks = random.chance(0.3);
  if (random.chance(0.3)) one.softcap = 2.5F;
  if (random.chance(0.5)) one.window.left = random.below(20);
  if (random.chance(0.3)) one.window.right = random.below(20);
  if (random.chance(0.3)) one.mask = one.score_shape();
  if (random.chance(0.3)) one.bias = Shape{1, one.heads, 1, one.keys};
  return one;
}

/// The call of sequence n alone, on the same memory.
AttentionInputs sequence_alone(const AttentionTensors& tensors, std::size_t n) {
  AttentionInputs alone = tensors.inputs();
  const Index query = tensors.query_starts[n], key = tensors.key_starts[n];
  alone.query.data = alone.query.at(0, 0, query);
  alone.query.shape[2] = tensors.query_starts[n + 1] - query;
  for (auto* view : {&alone.key, &alone.value}) {
    view->data = view->at(0, 0, key);
    view->shape[2] = tensors.key_starts[n + 1] - key;
  }
  return alone;
}

}  // namespace

TEST_CASE("packed sequences stay within the error model in the company of other options") {
  Random random(210);
  for (int n = 0; n < kCases; ++n) {
    const AttentionCase one = random_packed(random);
    check_all_results(random, one);
  }
}

TEST_CASE("the reference gives a packed sequence what it gives the sequence alone, to the last bit") {
  Random random(211);
  for (const Causal causal : {Causal::none, Causal::lower_right, Causal::upper_left}) {
    AttentionCase one{.heads = 2, .queries = 40, .keys = 57, .causal = causal};
    one.window = {.left = 6, .right = 3};
    one.sequences = 7;
    one.has_alibi = true;
    const AttentionTensors tensors = make_tensors(random, one);
    const reference::AttentionResult packed = reference::attention(tensors.inputs(), tensors.options);
    for (std::size_t n = 0; n < 7; ++n) {
      const AttentionInputs inputs = sequence_alone(tensors, n);
      AttentionOptions options = tensors.options;
      options.sequences = {};
      const reference::AttentionResult alone = reference::attention(inputs, options);
      const Index queries = inputs.query.shape[2];
      for_each_element({1, 2, queries, one.value_dim}, [&](Index, Index h, Index i, Index e) {
        const auto at = [&](Index row) { return static_cast<std::size_t>(row * one.value_dim + e); };
        CHECK(packed.output[at(h * one.queries + tensors.query_starts[n] + i)] == alone.output[at(h * queries + i)]);
      });
    }
  }
}

TEST_CASE("what a packed sequence holds reaches no result of another") {
  Random random(212);
  AttentionCase one{.heads = 4, .kv_heads = 2, .queries = 60, .keys = 250, .value_dim = 6};
  one.sequences = 3;
  for (const Causal causal : {Causal::none, Causal::lower_right}) {
    one.causal = causal;
    AttentionTensors tensors = make_tensors(random, one);
    tensors.query_starts = {0, 13, 44, 60};
    tensors.key_starts = {0, 101, 149, 250};
    const Results clean = run(tensors.inputs(), tensors.options);
    const std::vector<float> query = tensors.query.numbers, key = tensors.key.numbers, value = tensors.value.numbers;
    for (const float bad : {kNan, kInfinity}) {
      const auto spoil = [bad](Owned<float>& tensor, Index from, Index to) {
        for_each_element(tensor.view.shape, [&](Index b, Index h, Index i, Index d) {
          if (from <= i && i < to) tensor(b, h, i, d) = bad;
        });
      };
      spoil(tensors.query, 13, 44);
      spoil(tensors.key, 101, 149);
      spoil(tensors.value, 101, 149);
      const Results spoilt = run(tensors.inputs(), tensors.options);
      INFO(", " << bad);
      for_each_element(one.output_shape(), [&](Index b, Index h, Index i, Index e) {
        if (i < 13 || i >= 44) CHECK(spoilt.output(b, h, i, e) == clean.output(b, h, i, e));
      });
      std::ranges::copy(query, tensors.query.numbers.begin());
      std::ranges::copy(key, tensors.key.numbers.begin());
      std::ranges::copy(value, tensors.value.numbers.begin());
    }
  }
}

TEST_CASE("weights and masked scores across packed sequences are exact zeros and -infinity") {
  Random random(213);
  AttentionCase one{.heads = 2, .queries = 30, .keys = 110};
  one.sequences = 4;
  const AttentionTensors tensors = make_tensors(random, one);
  const auto sequence_of = [](const std::vector<std::int32_t>& starts, Index index) {
    return std::ranges::upper_bound(starts, index) - starts.begin();
  };
  const Results results = run(tensors.inputs(), tensors.options, {.scores = ScoreStage::masked});
  for_each_element(one.score_shape(), [&](Index b, Index h, Index i, Index j) {
    const bool is_own = sequence_of(tensors.query_starts, i) == sequence_of(tensors.key_starts, j);
    CHECK((results.weights(b, h, i, j) > 0.0F) == is_own);
    CHECK((results.scores(b, h, i, j) > -kInfinity) == is_own);
  });
}

}  // namespace heed::testing
