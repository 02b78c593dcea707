// The reference's gradients against central differences of the reference's forward pass, in double precision.
#include <catch_amalgamated.hpp>

#include "attention_case.hpp"
#include "differences.hpp"
#include "reference/attention_vjp.hpp"

namespace heed::testing {
namespace {

// Where a corner of the function lies within a step, such as where sparsemax drops a key, the next one is shorter.
constexpr float kSteps[] = {0x1p-7F, 0x1p-10F, 0x1p-13F, 0x1p-16F};

bool is_near(const Difference& found, double gradient) {
  return std::abs(gradient - found.value) <= found.error + 1e-7 * (1.0 + std::abs(found.value));
}

/// By steps that become shorter until the difference is the gradient.
Difference differentiate(float& number, double gradient, const std::function<double()>& evaluate) {
  Difference found{};
  for (const float step : kSteps) {
    found = difference(number, step, evaluate);
    if (is_near(found, gradient)) break;
  }
  return found;
}

void check_differences(const char* what, std::vector<float>& numbers, const std::vector<double>& gradients,
                       const std::function<double()>& evaluate) {
  for (std::size_t n = 0; n < gradients.size(); ++n) {
    if (!std::isfinite(numbers[n])) continue;
    const Difference found = differentiate(numbers[n], gradients[n], evaluate);
    INFO(what << " " << n << ": " << gradients[n] << ", by differences " << found.value);
    CHECK(is_near(found, gradients[n]));
  }
}

void check_case(Random& random, AttentionCase one) {
  INFO(describe(one));
  AttentionTensors tensors = make_tensors(random, one);
  tensors.options.scale = 0.75F;
  for (auto* numbers : {&tensors.query.numbers, &tensors.key.numbers, &tensors.value.numbers, &tensors.bias.numbers,
                        &tensors.w.numbers, &tensors.wq.numbers, &tensors.wk.numbers, &tensors.b.numbers,
                        &tensors.v.numbers, &tensors.bandwidth.numbers, &tensors.sinks, &tensors.expressions.numbers}) {
    round_to_grid(*numbers);
  }
  const Owned<float> of_output = random_tensor(random, one.output_shape());
  Random another(904);
  const Owned<float> of_weights = random_tensor(another, one.score_shape());
  const reference::AttentionVjpResult exact =
      reference::attention_vjp(tensors.inputs(), tensors.options, of_output.reading(), of_weights.reading());
  const auto evaluate = [&] {
    const reference::AttentionResult made = reference::attention(tensors.inputs(), tensors.options);
    return dot(made.output, of_output.reading()) + dot(made.weights, of_weights.reading());
  };
  check_differences("query", tensors.query.numbers, exact.query, evaluate);
  check_differences("key", tensors.key.numbers, exact.key, evaluate);
  check_differences("value", tensors.value.numbers, exact.value, evaluate);
  check_differences("bias", tensors.bias.numbers, exact.bias, evaluate);
  check_differences("sinks", tensors.sinks, exact.sinks, evaluate);
  for_each_parameter([&](const char* name, Owned<float>& parameter,
                         const auto& gradient) { check_differences(name, parameter.numbers, gradient, evaluate); },
                     tensors, exact.score);
  if (!exact.tables.empty()) {
    // The numbers of the second table are whole: they are indices and limits.
    const std::vector<double> of_first(exact.tables.begin(),
                                       exact.tables.begin() + tensors.expressions.words[kPrograms + 1 + kTableWords]);
    check_differences("tables", tensors.expressions.numbers, of_first, evaluate);
  }
  float& scale = *tensors.options.scale;
  const double of_scale = exact.log_scale / static_cast<double>(scale);
  const Difference found = differentiate(scale, of_scale, evaluate);
  INFO("scale: " << of_scale << ", by differences " << found.value);
  CHECK(is_near(found, of_scale));
}

AttentionCase small(AttentionCase one) {
  one.batch = 2;
  one.heads = 2;
  one.queries = 3;
  one.keys = 4;
  one.head_dim = 3;
  one.value_dim = 2;
  return one;
}

}  // namespace

TEST_CASE("the reference's gradients are those that central differences give", "[vjp]") {
  Random random(901);
  check_case(random, small({}));
  check_case(random, small({.causal = Causal::lower_right, .softcap = 1.5F}));
  check_case(random, small({.mask = Shape{2, 1, 3, 4}, .bias = Shape{1, 2, 3, 4}}));
  check_case(random, small({.bias = Shape{2, 1, 1, 4}, .softcap = 0.5F}));
  check_case(random, small({.bias = Shape{1, 1, 3, 1}, .has_alibi = true, .has_sinks = true}));
  check_case(random, small({.has_query_lengths = true, .has_key_lengths = true, .has_sinks = true}));
  check_case(random, small({.has_sinks = true, .dropout = Dropout{.p = 0.4F, .seed = 3}}));
  check_case(random, small({.dropout = Dropout{.p = 1.0F, .seed = 3}}));
  check_case(random, small({.score = {.kind = ScoreKind::dot}, .normalizer = Normalizer::sigmoid}));
  check_case(random, small({.bias = Shape{1, 1, 3, 4}, .softcap = 2.0F, .normalizer = Normalizer::none}));
  check_case(random, small({.normalizer = Normalizer::sparsemax}));
  check_case(random, small({.softcap = 2.0F, .normalizer = Normalizer::sparsemax, .top_k = 3}));
  check_case(random, small({.has_sinks = true, .top_k = 2}));
  check_case(random, small({.normalizer = Normalizer::hard}));
}

TEST_CASE("the gradients of score functions and their parameters are those that central differences give", "[vjp]") {
  Random random(902);
  const auto of = [](ScoreCase score) {
    AttentionCase one = small({.softcap = 1.5F});
    one.score = score;
    return one;
  };
  for (const bool is_per_head : {false, true}) {
    check_case(random, of({.kind = ScoreKind::cosine}));
    check_case(random, of({.kind = ScoreKind::general, .is_per_head = is_per_head, .query_dim = 5}));
    check_case(random, of({.kind = ScoreKind::additive, .is_per_head = is_per_head, .has_offset = true}));
    check_case(random, of({.kind = ScoreKind::additive,
                           .is_per_head = is_per_head,
                           .hidden = 4,
                           .has_offset = true,
                           .has_weights = true,
                           .query_dim = 2}));
    check_case(random, of({.kind = ScoreKind::gated, .is_per_head = is_per_head}));
    check_case(random, of({.kind = ScoreKind::gated, .is_per_head = is_per_head, .has_offset = true}));
    check_case(random, of({.kind = ScoreKind::rbf, .is_per_head = is_per_head}));
    check_case(random, of({.kind = ScoreKind::distance}));
  }
}

TEST_CASE("gradients through functions of scores and weights are those that central differences give", "[vjp]") {
  Random random(941);
  for (const int operators : {2, 3, 4, 6}) {
    check_case(random, small({.score_mod = operators}));
    check_case(random, small({.softcap = 1.5F, .has_sinks = true, .score_mod = operators}));
    check_case(random, small({.has_sinks = true, .weight_mod = operators}));
    check_case(random, small({.normalizer = Normalizer::sigmoid, .weight_mod = operators}));
    check_case(random, small({.dropout = Dropout{.p = 0.4F, .seed = 3}, .score_mod = 3, .weight_mod = operators}));
  }
}

}  // namespace heed::testing
