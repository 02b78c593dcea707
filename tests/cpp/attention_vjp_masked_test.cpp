// What is masked reaches no gradient, whatever it holds: queries without a key, keys that no query sees, and all that
// comes with them.
#include <catch_amalgamated.hpp>
#include <cmath>

#include "vjp_check.hpp"

namespace heed::testing {
namespace {

enum class Masking : std::uint8_t { lengths, mask, bias };

constexpr Index kQueries = 21;
constexpr Index kKeys = 33;
constexpr Index kSeenQueries = 13;
constexpr Index kSeenKeys = 20;

bool is_query_masked(Masking masking, Index i) { return masking == Masking::lengths ? i >= kSeenQueries : i % 3 == 1; }
bool is_key_masked(Masking masking, Index j) { return masking == Masking::lengths ? j >= kSeenKeys : j % 5 == 2; }

/// Masks some queries from all keys, and some keys from all queries.
AttentionTensors make_masked(Random& random, AttentionCase one, Masking masking) {
  one.bias = Shape{1, 2, kQueries, kKeys};
  one.has_query_lengths = one.has_key_lengths = masking == Masking::lengths;
  if (masking == Masking::mask) one.mask = Shape{1, 1, kQueries, kKeys};
  AttentionTensors made = make_tensors(random, one);
  std::ranges::fill(made.query_lengths, static_cast<std::int32_t>(kSeenQueries));
  std::ranges::fill(made.key_lengths, static_cast<std::int32_t>(kSeenKeys));
  for_each_element({1, 2, kQueries, kKeys}, [&](Index, Index h, Index i, Index j) {
    const bool is_masked = is_query_masked(masking, i) || is_key_masked(masking, j);
    if (masking == Masking::mask) made.mask(0, 0, i, j) = is_masked ? 0 : 1;
    if (masking == Masking::bias && is_masked) made.bias(0, h, i, j) = -kInfinity;
  });
  return made;
}

/// Puts `bad` into every masked row, or into one number of each.
void spoil(AttentionTensors& tensors, VjpGiven& given, Masking masking, float bad, bool is_whole) {
  const auto spoil_rows = [&](Owned<float>& tensor, auto is_masked) {
    for_each_element(tensor.view.shape, [&](Index b, Index h, Index i, Index d) {
      if (is_masked(masking, i) && (is_whole || d == 1)) tensor(b, h, i, d) = bad;
    });
  };
  spoil_rows(tensors.query, is_query_masked);
  spoil_rows(given.output_gradient, is_query_masked);
  spoil_rows(tensors.key, is_key_masked);
  spoil_rows(tensors.value, is_key_masked);
  const auto spoil_pairs = [&](Owned<float>& tensor) {
    for_each_element(tensor.view.shape, [&](Index b, Index h, Index i, Index j) {
      if (is_query_masked(masking, i) || is_key_masked(masking, j)) tensor(b, h, i, j) = bad;
    });
  };
  if (given.inputs.weights_gradient.is_present()) spoil_pairs(given.weights_gradient);
  if (masking != Masking::bias) spoil_pairs(tensors.bias);
}

/// The runs whose gradients are not, bit for bit, those of numbers that are finite.
int count_changed(Random& random, const AttentionCase& one, Masking masking, bool has_weights_gradient) {
  int changed = 0;
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    for (const bool is_whole : {false, true}) {
      AttentionTensors tensors = make_masked(random, one, masking);
      VjpGiven given = run_forward(random, tensors);
      if (has_weights_gradient) give_weights_gradient(random, given);
      const auto expected = run_backward(given, tensors).bits();
      spoil(tensors, given, masking, bad, is_whole);
      changed += run_backward(given, tensors).bits() == expected ? 0 : 1;
    }
  }
  return changed;
}

}  // namespace

TEST_CASE("what is masked reaches no gradient of any score function or its parameters", "[vjp]") {
  Random random(960);
  const auto masking = GENERATE(Masking::lengths, Masking::mask, Masking::bias);
  const auto is_per_head = GENERATE(false, true);
  for (ScoreCase score : {ScoreCase{}, ScoreCase{.kind = ScoreKind::cosine},
                          ScoreCase{.kind = ScoreKind::general, .query_dim = 11}, ScoreCase{.kind = ScoreKind::general},
                          ScoreCase{.kind = ScoreKind::additive, .has_offset = true, .has_weights = true},
                          ScoreCase{.kind = ScoreKind::additive, .hidden = 9, .has_offset = true, .has_weights = true},
                          ScoreCase{.kind = ScoreKind::gated, .has_offset = true}, ScoreCase{.kind = ScoreKind::rbf},
                          ScoreCase{.kind = ScoreKind::distance}}) {
    score.is_per_head = is_per_head;
    for (const Normalizer normalizer :
         {Normalizer::softmax, Normalizer::sparsemax, Normalizer::sigmoid, Normalizer::hard, Normalizer::none}) {
      const bool is_softmax = normalizer == Normalizer::softmax;
      AttentionCase one{.batch = 2,
                        .heads = 2,
                        .kv_heads = 1,
                        .queries = kQueries,
                        .keys = kKeys,
                        .has_alibi = true,
                        .has_sinks = is_softmax,
                        .score = score,
                        .normalizer = normalizer};
      INFO(describe(one) << ", masking " << static_cast<int>(masking));
      CHECK(count_changed(random, one, masking, false) == 0);
      one.softcap = 2.0F;
      one.dropout = Dropout{.p = 0.3F, .seed = 7};
      if (normalizer != Normalizer::hard) one.top_k = 5;
      CHECK(count_changed(random, one, masking, true) == 0);
    }
  }
}

TEST_CASE("a query whose scores are all -infinity reaches no gradient", "[vjp]") {
  Random random(961);
  for (const ScoreCase score :
       {ScoreCase{}, ScoreCase{.kind = ScoreKind::rbf}, ScoreCase{.kind = ScoreKind::distance}}) {
    for (const Normalizer normalizer :
         {Normalizer::softmax, Normalizer::sparsemax, Normalizer::sigmoid, Normalizer::hard, Normalizer::none}) {
      AttentionTensors tensors = make_tensors(
          random, {.heads = 2, .queries = kQueries, .keys = kKeys, .score = score, .normalizer = normalizer});
      for (float& number : tensors.key.numbers) number = std::abs(number) + 0.125F;
      VjpGiven given = run_forward(random, tensors);
      const auto make_keyless = [&](Owned<float>& tensor, float number) {
        for_each_element(tensor.view.shape, [&](Index b, Index h, Index i, Index d) {
          if (is_query_masked(Masking::mask, i)) tensor(b, h, i, d) = number;
        });
      };
      make_keyless(given.output_gradient, 0.0F);
      const Gradients expected = run_backward(given, tensors);
      make_keyless(tensors.query, -kInfinity);
      make_keyless(given.output, 0.0F);
      if (normalizer == Normalizer::softmax) make_keyless(given.log_sum_exp, -kInfinity);
      make_keyless(given.output_gradient, kNan);
      const Gradients got = run_backward(given, tensors);
      INFO("score " << static_cast<int>(score.kind) << ", normalizer " << static_cast<int>(normalizer));
      CHECK(got.query.numbers == expected.query.numbers);
      CHECK(got.key.numbers == expected.key.numbers);
      CHECK(got.value.numbers == expected.value.numbers);
    }
  }
}

}  // namespace heed::testing
