// Sizes of zero: nothing to do, or nothing to attend to.
#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>

#include "attention_check.hpp"
#include "heed/attention.hpp"
#include "heed/machine.hpp"

namespace heed::testing {
namespace {

constexpr Normalizer kNormalizers[] = {Normalizer::softmax, Normalizer::sparsemax, Normalizer::sigmoid,
                                       Normalizer::hard, Normalizer::none};

bool is_without_key(Index i) { return i % 3 == 0; }

/// Numbers of rows without a key that are not `wanted`, and of other rows that are not as they were before.
Index count_wrong(const Owned<float>& got, const Owned<float>& before, float wanted) {
  Index wrong = 0;
  for_each_element(got.view.shape, [&](Index b, Index h, Index i, Index e) {
    wrong += got(b, h, i, e) != (is_without_key(i) ? wanted : before(b, h, i, e));
  });
  return wrong;
}

}  // namespace

TEST_CASE("a row whose scores are all -infinity is one without a key, and changes no bit of others") {
  Random random(76);
  for (const ScoreKind kind : {ScoreKind::scaled_dot, ScoreKind::rbf, ScoreKind::distance}) {
    for (const Normalizer normalizer : kNormalizers) {
      for (const Index queries : {1, 3, 9, 70}) {
        const Index keys = random.pick(std::vector<Index>{1, 8, 64, 97, 300, 1500});
        AttentionTensors tensors = make_tensors(random, {.heads = 2,
                                                         .queries = queries,
                                                         .keys = keys,
                                                         .has_sinks = normalizer == Normalizer::softmax,
                                                         .score = {.kind = kind},
                                                         .normalizer = normalizer});
        for (float& number : tensors.key.numbers) number = std::abs(number) + 0.125F;
        const AttentionInputs inputs = tensors.inputs();
        const Wanted wanted = fitting({.scores = ScoreStage::masked}, tensors.options);
        const std::vector<float> given = tensors.query.numbers;
        const Results before = run(inputs, tensors.options, wanted);
        for_each_element(tensors.query.view.shape, [&](Index b, Index h, Index i, Index d) {
          if (is_without_key(i)) tensors.query(b, h, i, d) = -kInfinity;
        });
        const Results got = run(inputs, tensors.options, wanted);
        INFO(", score " << static_cast<int>(kind) << ", normalizer " << static_cast<int>(normalizer) << ", " << queries
                        << " queries, " << keys << " keys");
        CHECK(count_wrong(got.output, before.output, 0.0F) == 0);
        CHECK(count_wrong(got.weights, before.weights, 0.0F) == 0);
        CHECK(count_wrong(got.scores, before.scores, -kInfinity) == 0);
        if (wanted.log_sum_exp) CHECK(count_wrong(got.log_sum_exp, before.log_sum_exp, -kInfinity) == 0);
        if (wanted.entropy) CHECK(count_wrong(got.entropy, before.entropy, 0.0F) == 0);
        std::ranges::copy(given, tensors.query.numbers.begin());
      }
    }
  }
}

TEST_CASE("no queries, no batch entries: success and nothing written") {
  Random random(70);
  check_case(random, {.queries = 0, .keys = 5});
  check_case(random, {.batch = 0, .heads = 4, .kv_heads = 2, .queries = 3, .keys = 5});
  check_case(random, {.queries = 0, .keys = 0});
}

TEST_CASE("without keys every output is zero and every log-sum-exp -infinity") {
  Random random(71);
  for (const Layout layout : {Layout::bhnd, Layout::bnhd, Layout::padded}) {
    for (const Causal causal : {Causal::none, Causal::lower_right, Causal::upper_left}) {
      const AttentionCase one = {
          .batch = 2, .heads = 4, .kv_heads = 2, .queries = 9, .layout = layout, .causal = causal};
      AttentionCase empty = one;
      empty.keys = 0;
      check_case(random, empty);
    }
  }
}

TEST_CASE("keys and values of no length may be null pointers in any layout") {
  Random random(72);
  for (const Layout layout : {Layout::bhnd, Layout::bnhd}) {
    AttentionTensors tensors =
        make_tensors(random, {.batch = 2, .heads = 4, .kv_heads = 2, .queries = 9, .keys = 0, .layout = layout});
    tensors.key.view.data = nullptr;
    tensors.value.view.data = nullptr;
    const Results results = run(tensors.inputs(), {});
    CHECK(std::ranges::none_of(results.output.numbers, [](float x) { return x != 0.0F && x != kUntouched; }));
    CHECK(results.log_sum_exp(1, 3, 8, 0) == -kInfinity);
  }
}

TEST_CASE("a mask or bias without keys masks them all") {
  Random random(73);
  check_case(random, {.queries = 3, .keys = 5, .mask = Shape{1, 1, 1, 0}});
  check_case(random, {.queries = 3, .keys = 5, .bias = Shape{1, 1, 3, 0}});
}

TEST_CASE("outputs that nobody asked for are not written, in any combination") {
  Random random(74);
  const AttentionTensors tensors = make_tensors(random, {.heads = 2, .queries = 9, .keys = 50});
  const AttentionInputs inputs = tensors.inputs();
  const Results whole = run(inputs, {}, {.scores = ScoreStage::masked});
  for (unsigned wanted = 0; wanted < 32; ++wanted) {
    Results part(inputs);
    AttentionOutputs outputs{.score_stage = ScoreStage::masked};
    if ((wanted & 1U) != 0) outputs.output = part.output.view;
    if ((wanted & 2U) != 0) outputs.weights = part.weights.view;
    if ((wanted & 4U) != 0) outputs.log_sum_exp = part.log_sum_exp.view;
    if ((wanted & 8U) != 0) outputs.scores = part.scores.view;
    if ((wanted & 16U) != 0) outputs.entropy = part.entropy.view;
    REQUIRE(attention(inputs, {}, outputs, calling_thread()).is_ok());
    if ((wanted & 1U) != 0) CHECK(part.output.numbers == whole.output.numbers);
    if ((wanted & 2U) != 0) CHECK(part.weights.numbers == whole.weights.numbers);
    if ((wanted & 4U) != 0) CHECK(part.log_sum_exp.numbers == whole.log_sum_exp.numbers);
    if ((wanted & 8U) != 0) CHECK(part.scores.numbers == whole.scores.numbers);
    if ((wanted & 16U) != 0) CHECK(part.entropy.numbers == whole.entropy.numbers);
  }
}

}  // namespace heed::testing
