// Keys skipped by whole blocks: padding behind lengths, empty blocks of a mask, scores under a softcap and a mask.
#include <algorithm>
#include <catch_amalgamated.hpp>

#include "attention_check.hpp"

namespace heed::testing {
namespace {

const AttentionCase kCase = {.batch = 2, .heads = 4, .kv_heads = 2, .queries = 37, .keys = 310, .value_dim = 6};

void fill_rows(Owned<float>& tensor, Index batch, Index first, float number) {
  for_each_element(tensor.view.shape, [&](Index b, Index h, Index i, Index d) {
    if (b == batch && i >= first) tensor(b, h, i, d) = number;
  });
}

/// The mask as a bias of 0 and -infinity.
Owned<float> bias_of(const Owned<std::uint8_t>& mask) {
  Owned<float> bias = allocate(mask.view.shape, Layout::bhnd, 0.0F);
  for_each_element(mask.view.shape, [&](Index b, Index h, Index i, Index j) {
    bias(b, h, i, j) = mask(b, h, i, j) == 0 ? -kInfinity : 0.0F;
  });
  return bias;
}

/// The results as a mask and as a bias, bit for bit.
void check_mask_against_bias(const AttentionTensors& tensors) {
  const AttentionInputs masked = tensors.inputs();
  const Owned<float> bias = bias_of(tensors.mask);
  AttentionInputs biased = masked;
  biased.mask = {};
  biased.bias = bias.reading();
  for (const Wanted& wanted : {Wanted{}, Wanted{.weights = false}, Wanted{.scores = ScoreStage::masked}}) {
    const Results one = run(masked, tensors.options, wanted);
    const Results other = run(biased, tensors.options, wanted);
    INFO(", weights " << wanted.weights << ", scores " << wanted.scores.has_value());
    CHECK(one.output.numbers == other.output.numbers);
    CHECK(one.weights.numbers == other.weights.numbers);
    CHECK(one.scores.numbers == other.scores.numbers);
    CHECK(one.log_sum_exp.numbers == other.log_sum_exp.numbers);
    CHECK(one.entropy.numbers == other.entropy.numbers);
  }
}

}  // namespace

TEST_CASE("padded keys and queries may hold anything and reach no result") {
  Random random(190);
  AttentionCase one = kCase;
  one.has_query_lengths = one.has_key_lengths = true;
  for (const Causal causal : {Causal::none, Causal::lower_right, Causal::upper_left}) {
    one.causal = causal;
    AttentionTensors tensors = make_tensors(random, one);
    tensors.key_lengths = {97, 250};
    tensors.query_lengths = {30, 12};
    tensors.options.key_lengths = tensors.key_lengths.data();
    tensors.options.query_lengths = tensors.query_lengths.data();
    check_all_results(tensors);
    for (const Wanted& wanted : {Wanted{}, Wanted{.weights = false}, Wanted{.scores = ScoreStage::masked}}) {
      const auto clean = run(tensors.inputs(), tensors.options, wanted).bits();
      for (const float bad : {kNan, kInfinity, 0.0F}) {
        for (const Index b : {0, 1}) {
          const auto at = static_cast<std::size_t>(b);
          fill_rows(tensors.key, b, tensors.key_lengths[at], bad);
          fill_rows(tensors.value, b, tensors.key_lengths[at], bad);
          fill_rows(tensors.query, b, tensors.query_lengths[at], bad);
        }
        INFO(", padding of " << bad << ", causal " << static_cast<int>(causal));
        CHECK(run(tensors.inputs(), tensors.options, wanted).bits() == clean);
      }
    }
  }
}

TEST_CASE("padded queries are exact zeros and -infinity") {
  Random random(191);
  AttentionTensors tensors = make_tensors(random, kCase);
  tensors.query_lengths = {30, 0};
  tensors.options.query_lengths = tensors.query_lengths.data();
  const Results results = run(tensors.inputs(), tensors.options);
  for_each_element(kCase.output_shape(), [&](Index b, Index h, Index i, Index e) {
    const bool is_padding = b == 1 || i >= 30;
    CHECK((results.output(b, h, i, e) == 0.0F) == is_padding);
    CHECK((results.log_sum_exp(b, h, i, 0) == -kInfinity) == is_padding);
  });
}

TEST_CASE("lengths of everything give the bits of no lengths") {
  Random random(192);
  for (const Causal causal : {Causal::none, Causal::lower_right, Causal::upper_left}) {
    AttentionCase one = kCase;
    one.causal = causal;
    AttentionTensors tensors = make_tensors(random, one);
    const auto plain = run(tensors.inputs(), tensors.options).bits();
    const std::int32_t queries[] = {37, 37};
    const std::int32_t keys[] = {310, 310};
    AttentionOptions options = tensors.options;
    options.query_lengths = queries;
    options.key_lengths = keys;
    CHECK(run(tensors.inputs(), options).bits() == plain);
  }
}

TEST_CASE("lengths give the bits of a shorter call") {
  Random random(193);
  AttentionCase one = kCase;
  one.batch = 1;
  one.causal = Causal::lower_right;
  AttentionTensors tensors = make_tensors(random, one);
  const std::int32_t queries[] = {22};
  const std::int32_t keys[] = {187};
  AttentionInputs shorter = tensors.inputs();
  shorter.query.shape[2] = 22;
  shorter.key.shape[2] = shorter.value.shape[2] = 187;
  AttentionOptions options = tensors.options;
  options.query_lengths = queries;
  options.key_lengths = keys;
  const Results padded = run(tensors.inputs(), options);
  const Results alone = run(shorter, tensors.options);
  Index wrong = 0;
  for_each_element(alone.output.view.shape, [&](Index b, Index h, Index i, Index e) {
    wrong += padded.output(b, h, i, e) != alone.output(b, h, i, e);
    wrong += padded.log_sum_exp(b, h, i, 0) != alone.log_sum_exp(b, h, i, 0);
  });
  CHECK(wrong == 0);
}

TEST_CASE("a mask that empties and fills whole blocks gives the bits of the same bias, and the right results") {
  Random random(194);
  for (const Index run_length : {24, 48, 96, 100}) {
    for (const bool is_for_all_rows : {true, false}) {
      AttentionTensors tensors = make_tensors(random, kCase);
      tensors.mask = allocate<std::uint8_t>({1, 1, is_for_all_rows ? 1 : 37, 310}, Layout::bhnd, 1);
      for_each_element(tensors.mask.view.shape, [&](Index b, Index h, Index i, Index j) {
        // Rows differ panel by panel: what is empty for one is full for another.
        const Index shift = i / 8;
        tensors.mask(b, h, i, j) = (j / run_length + shift) % 2 == 0 ? 0 : 1;
      });
      INFO("runs of " << run_length << ", one row of mask " << is_for_all_rows);
      check_mask_against_bias(tensors);
      check_all_results(tensors);
    }
  }
}

TEST_CASE("a mask of all ones, of all zeros and of one key gives the bits of the same bias") {
  Random random(195);
  for (const Index attended : {-1, 0, 155, 309}) {
    AttentionTensors tensors = make_tensors(random, kCase);
    tensors.mask = allocate<std::uint8_t>({1, 1, 37, 310}, Layout::bhnd, 0);
    for (Index i = 0; i < 37; ++i) {
      if (attended >= 0) tensors.mask(0, 0, i, attended) = 1;
    }
    INFO("key " << attended);
    check_mask_against_bias(tensors);
    check_all_results(tensors);
  }
  AttentionTensors tensors = make_tensors(random, kCase);
  tensors.mask = allocate<std::uint8_t>({1, 1, 37, 310}, Layout::bhnd, 1);
  check_mask_against_bias(tensors);
}

TEST_CASE("nothing in a block that a mask empties reaches any result, whatever is asked for") {
  Random random(196);
  AttentionTensors tensors = make_tensors(random, kCase);
  tensors.mask = allocate<std::uint8_t>({1, 1, 1, 310}, Layout::bhnd, 1);
  for (Index j = 0; j < 200; ++j) tensors.mask(0, 0, 0, j) = 0;
  for (const Wanted& wanted : {Wanted{}, Wanted{.weights = false}, Wanted{.scores = ScoreStage::masked}}) {
    const auto clean = run(tensors.inputs(), tensors.options, wanted).bits();
    for_each_element(kCase.key_shape(), [&](Index b, Index h, Index j, Index d) {
      if (j < 200) tensors.key(b, h, j, d) = tensors.value(b, h, j, d % kCase.value_dim) = kNan;
    });
    CHECK(run(tensors.inputs(), tensors.options, wanted).bits() == clean);
    for_each_element(kCase.key_shape(), [&](Index b, Index h, Index j, Index d) {
      if (j < 200) tensors.key(b, h, j, d) = tensors.value(b, h, j, d % kCase.value_dim) = 1.0F;
    });
  }
}

TEST_CASE("huge scores that are capped and masked do not leak into any result") {
  Random random(197);
  for (const float huge : {1e4F, 1e18F, kInfinity}) {
    AttentionCase one = kCase;
    one.softcap = 0.5F;
    one.bias = Shape{1, 1, 1, one.keys};
    AttentionTensors tensors = make_tensors(random, one);
    const auto clean = run(tensors.inputs(), tensors.options).bits();
    for_each_element(one.key_shape(), [&](Index b, Index h, Index j, Index d) {
      if (tensors.bias(0, 0, 0, j) == -kInfinity) tensors.key(b, h, j, d) = huge;
    });
    INFO(", " << huge);
    CHECK(run(tensors.inputs(), tensors.options).bits() == clean);
    if (huge < kInfinity) check_all_results(tensors);
  }
}

}  // namespace heed::testing
