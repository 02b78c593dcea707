// Score functions: each alone and in random company against the reference, where arithmetic is delicate, and what they
// must have in common with each other.
#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>

#include "attention_check.hpp"

namespace heed::testing {
namespace {

constexpr int kCases = 300;

/// Several blocks of keys, more than one task, heads that share keys.
const AttentionCase kCase = {
    .batch = 2, .heads = 4, .kv_heads = 2, .queries = 41, .keys = 203, .head_dim = 19, .value_dim = 7};

std::vector<ScoreCase> every_score() {
  std::vector<ScoreCase> all;
  for (const bool is_per_head : {false, true}) {
    for (int kind = 0; kind < 8; ++kind) {
      const ScoreCase plain{.kind = static_cast<ScoreKind>(kind), .is_per_head = is_per_head};
      ScoreCase full = plain;
      full.has_offset = full.has_weights = true;
      if (plain.kind == ScoreKind::additive) full.hidden = 24;
      all.push_back(plain);
      all.push_back(full);
    }
  }
  return all;
}

/// Two inputs that must give the same, within the bounds of both.
void check_alike(const AttentionInputs& a, const AttentionOptions& a_options, const AttentionInputs& b,
                 const AttentionOptions& b_options) {
  const Expected of_a = expect(a, a_options);
  Expected of_b = expect(b, b_options);
  for (std::size_t row = 0; row < of_a.bounds.size(); ++row) {
    for (std::size_t e = 0; e < of_a.bounds[row].output.size(); ++e) {
      of_b.bounds[row].output[e] += of_a.bounds[row].output[e];
    }
  }
  Expected expected{.result = of_b.result, .bounds = of_b.bounds};
  const Results results = run(a, a_options);
  const Results others = run(b, b_options);
  std::size_t n = 0;
  for_each_element(others.output.view.shape, [&](Index batch, Index h, Index i, Index e) {
    expected.result.output[n++] = static_cast<double>(others.output(batch, h, i, e));
  });
  CHECK(compare(expected, results).output <= 1.0);
}

}  // namespace

TEST_CASE("each score function alone stays within the error model, for many rows and for few") {
  Random random(300);
  for (const ScoreCase& score : every_score()) {
    for (const Index queries : {41, 1}) {
      AttentionCase one = kCase;
      one.score = score;
      one.queries = queries;
      check_all_results(random, one);
    }
  }
}

TEST_CASE("score functions in any company stay within the error model") {
  Random random(301);
  for (int n = 0; n < kCases; ++n) {
    AttentionCase one = sizes_around_blocks(random);
    add_random_options(random, one);
    one.score = random_score(random);
    if (random.chance(0.3)) one.scale = random.normal();
    check_all_results(random, one);
  }
}

TEST_CASE("a query that all but meets a key has a distance that is right to its own size") {
  Random random(302);
  for (const ScoreKind kind : {ScoreKind::rbf, ScoreKind::distance}) {
    for (const float apart : {0.0F, 1e-6F, 1e-3F}) {
      AttentionCase one = {.queries = 20, .keys = 20, .head_dim = 33};
      one.score.kind = kind;
      one.scale = 1e4F;
      AttentionTensors tensors = make_tensors(random, one);
      for (float& number : tensors.query.numbers) number += 100.0F;
      for_each_element(one.key_shape(), [&](Index b, Index h, Index j, Index d) {
        tensors.key(b, h, j, d) = tensors.query(b, h, j, d) + apart * random.normal();
      });
      INFO(describe(one) << ", apart " << apart);
      check_all_results(tensors);
    }
  }
}

TEST_CASE("a query among the keys is at distance zero and has the whole weight when the scale is large") {
  Random random(303);
  AttentionCase one = {.queries = 20, .keys = 20, .head_dim = 8, .scale = 1e6F};
  one.score.kind = ScoreKind::distance;
  AttentionTensors tensors = make_tensors(random, one);
  std::ranges::copy(tensors.key.numbers, tensors.query.numbers.begin());
  const Results results = run(tensors.inputs(), tensors.options, {.scores = ScoreStage::raw});
  for (Index i = 0; i < 20; ++i) {
    CHECK(results.scores(0, 0, i, i) == 0.0F);
    CHECK(results.output(0, 0, i, 3) == tensors.value(0, 0, i, 3));
  }
}

TEST_CASE("distances of 1e-15 to 1e19 are right to their own size") {
  Random random(315);
  for (const float size : {1e-15F, 1e-8F, 1e8F, 1e18F}) {
    for (const Index queries : {41, 1}) {
      AttentionCase one = kCase;
      one.queries = queries;
      one.score.kind = ScoreKind::distance;
      one.deviation = size;
      one.scale = 1.0F / size;
      check_all_results(random, one);
    }
  }
}

TEST_CASE("cosine does not know how long vectors are, from 1e-30 to 1e30") {
  Random random(304);
  AttentionCase one = kCase;
  one.score.kind = ScoreKind::cosine;
  for (const float size : {1e-30F, 1e-15F, 1e15F, 1e30F}) {
    one.deviation = size;
    check_all_results(random, one);
  }
  AttentionTensors tensors = make_tensors(random, {.queries = 9, .keys = 30, .score = {.kind = ScoreKind::cosine}});
  const auto before = run(tensors.inputs(), tensors.options).bits();
  for (float& number : tensors.query.numbers) number *= 0x1p60F;
  for (float& number : tensors.key.numbers) number *= 0x1p-70F;
  CHECK(run(tensors.inputs(), tensors.options).bits() == before);
  for (float& number : tensors.query.numbers) number *= 0x1p-60F;
  for (float& number : tensors.key.numbers) number *= 0x1p70F;
}

TEST_CASE("the cosine with a vector of zeros, or with one too short to have a direction, is zero") {
  Random random(305);
  AttentionTensors tensors = make_tensors(random, {.queries = 9, .keys = 30, .score = {.kind = ScoreKind::cosine}});
  for (Index d = 0; d < 8; ++d) {
    tensors.query(0, 0, 4, d) = 0.0F;
    tensors.key(0, 0, 7, d) = d == 2 ? 0x1p-130F : 0.0F;
  }
  const Results results = run(tensors.inputs(), tensors.options, {.scores = ScoreStage::raw});
  for (Index j = 0; j < 30; ++j) CHECK(results.scores(0, 0, 4, j) == 0.0F);
  for (Index i = 0; i < 9; ++i) CHECK(results.scores(0, 0, i, 7) == 0.0F);
}

TEST_CASE("general with the identity is dot, and with a matrix is dot of what it makes of the keys") {
  Random random(306);
  AttentionCase one = kCase;
  one.score.kind = ScoreKind::general;
  AttentionTensors tensors = make_tensors(random, one);
  for_each_element(tensors.w.view.shape,
                   [&](Index b, Index h, Index i, Index d) { tensors.w(b, h, i, d) = i == d ? 1.0F : 0.0F; });
  AttentionOptions dot;
  dot.score.kind = ScoreKind::dot;
  CHECK(run(tensors.inputs(), tensors.options).bits() == run(tensors.inputs(), dot).bits());
}

TEST_CASE("rbf with a bandwidth of 1 is the dot product less half of the keys' squares") {
  // exp(-|q - k|^2 / 2) = exp(q . k - |k|^2 / 2) exp(-|q|^2 / 2), and the last factor is the row's.
  Random random(307);
  AttentionCase one = {.queries = 12, .keys = 40, .head_dim = 6};
  one.score.kind = ScoreKind::rbf;
  AttentionTensors tensors = make_tensors(random, one);
  tensors.bandwidth.numbers[0] = 1.0F;
  Owned<float> bias = allocate<float>({1, 1, 1, one.keys}, Layout::bhnd, 0.0F);
  for_each_element(one.key_shape(), [&](Index b, Index h, Index j, Index d) {
    bias(0, 0, 0, j) -= 0.5F * tensors.key(b, h, j, d) * tensors.key(b, h, j, d);
  });
  AttentionInputs with_bias = tensors.inputs();
  with_bias.bias = bias.reading();
  AttentionOptions dot;
  dot.score.kind = ScoreKind::dot;
  check_alike(tensors.inputs(), tensors.options, with_bias, dot);
}

TEST_CASE("a gate that is wide open is none") {
  Random random(308);
  AttentionCase one = kCase;
  one.score = {.kind = ScoreKind::gated, .has_offset = true};
  AttentionTensors tensors = make_tensors(random, one);
  tensors.b.numbers[0] = 1000.0F;
  AttentionOptions dot;
  dot.score.kind = ScoreKind::dot;
  CHECK(run(tensors.inputs(), tensors.options).bits() == run(tensors.inputs(), dot).bits());
}

TEST_CASE("additive scores change sign with their weights, and saturate at the sum of them") {
  Random random(309);
  AttentionCase one = {.queries = 12, .keys = 40, .head_dim = 6};
  one.score = {.kind = ScoreKind::additive, .has_weights = true};
  AttentionTensors tensors = make_tensors(random, one);
  const Results before = run(tensors.inputs(), tensors.options, {.scores = ScoreStage::raw});
  for (float& weight : tensors.v.numbers) weight = -weight;
  const Results after = run(tensors.inputs(), tensors.options, {.scores = ScoreStage::raw});
  for_each_element(one.score_shape(), [&](Index b, Index h, Index i, Index j) {
    CHECK(after.scores(b, h, i, j) == -before.scores(b, h, i, j));
  });
  std::ranges::fill(tensors.query.numbers, 1e4F);
  std::ranges::fill(tensors.v.numbers, 0.25F);
  const Results results = run(tensors.inputs(), tensors.options, {.scores = ScoreStage::raw});
  CHECK(results.scores(0, 0, 11, 39) == Catch::Approx(1.5).epsilon(1e-6));
}

TEST_CASE("a parameter of each head, all of them the same, is a parameter for all") {
  Random random(310);
  for (const ScoreCase& score : every_score()) {
    if (!score.is_per_head) continue;
    AttentionCase one = kCase;
    one.score = score;
    AttentionTensors tensors = make_tensors(random, one);
    AttentionOptions shared = tensors.options;
    const auto share = [](const char* /*name*/, TensorView<const float>& of_heads, TensorView<const float>& of_all) {
      if (of_heads.is_present()) of_heads.strides[1] = of_all.strides[1] = 0;
      if (of_all.is_present()) of_all.shape[1] = 1;
    };
    for_each_parameter(share, tensors.options.score, shared.score);
    INFO(describe(one));
    CHECK(run(tensors.inputs(), tensors.options).bits() == run(tensors.inputs(), shared).bits());
  }
}

TEST_CASE("any number of workers gives the bits of one, for every score function") {
  Random random(311);
  for (const ScoreCase& score : every_score()) {
    AttentionCase one = kCase;
    one.score = score;
    INFO(describe(one));
    check_workers(make_tensors(random, one), {5});
  }
}

TEST_CASE("nothing in a masked key reaches any result, whatever the score function") {
  Random random(312);
  for (const ScoreCase& score : every_score()) {
    AttentionCase one = kCase;
    one.score = score;
    one.mask = Shape{1, 1, 1, one.keys};
    AttentionTensors tensors = make_tensors(random, one);
    const auto clean = run(tensors.inputs(), tensors.options).bits();
    const std::vector<float> keys = tensors.key.numbers;
    for (const float bad : {kNan, kInfinity}) {
      for_each_element(one.key_shape(), [&](Index b, Index h, Index j, Index d) {
        if (tensors.mask(0, 0, 0, j) == 0) tensors.key(b, h, j, d) = bad;
      });
      INFO(describe(one) << ", " << bad);
      CHECK(run(tensors.inputs(), tensors.options).bits() == clean);
    }
    std::ranges::copy(keys, tensors.key.numbers.begin());
  }
}

TEST_CASE("scores of few keys are nearer to the exact ones than those of many") {
  Random random(314);
  const AttentionTensors tensors =
      make_tensors(random, {.heads = 2, .queries = 150, .keys = 300, .head_dim = 64, .value_dim = 1});
  AttentionInputs few = tensors.inputs();
  few.key.shape[2] = few.value.shape[2] = 256;
  const Expected expected = expect(tensors.inputs(), tensors.options);
  const auto deviation = [&](const AttentionInputs& inputs) {
    const Results results = run(inputs, tensors.options, {.scores = ScoreStage::raw});
    const std::vector<double>& exact = expected.result.scores[static_cast<std::size_t>(ScoreStage::raw)];
    double sum = 0.0;
    for_each_element({1, 2, 150, 256}, [&](Index b, Index h, Index i, Index j) {
      const double error =
          static_cast<double>(results.scores(b, h, i, j)) - exact[static_cast<std::size_t>((h * 150 + i) * 300 + j)];
      sum += error * error;
    });
    return std::sqrt(sum);
  };
  CHECK(deviation(few) < 0.9 * deviation(tensors.inputs()));
}

TEST_CASE("a NaN in a key or a query reaches exactly the rows that meet it, whatever the score function") {
  Random random(313);
  for (const ScoreCase& score : every_score()) {
    AttentionCase one = kCase;
    one.score = score;
    AttentionTensors tensors = make_tensors(random, one);
    tensors.key(1, 1, 100, 5) = kNan;
    tensors.query(0, 0, 17, 3) = kNan;
    const Results results = run(tensors.inputs(), tensors.options);
    Index wrong = 0;
    for_each_element(results.output.view.shape, [&](Index b, Index h, Index i, Index e) {
      const bool is_reached = (b == 1 && h >= 2) || (b == 0 && h == 0 && i == 17);
      wrong += std::isnan(results.output(b, h, i, e)) != is_reached;
    });
    INFO(describe(one));
    CHECK(wrong == 0);
  }
}

}  // namespace heed::testing
