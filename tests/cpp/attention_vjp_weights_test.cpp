// The backward pass where the loss has the weights in it as well as the output: gradients against the reference.
#include <catch_amalgamated.hpp>
#include <cmath>

#include "attention_check.hpp"
#include "vjp_check.hpp"

namespace heed::testing {
namespace {

bool check_with_weights(Random& random, const AttentionCase& one) {
  INFO(describe(one));
  const AttentionTensors tensors = make_tensors(random, one);
  VjpGiven given = run_forward(random, tensors);
  give_weights_gradient(random, given);
  return check_gradients(given, tensors);
}

}  // namespace

TEST_CASE("a gradient of the weights reaches scores at any sizes", "[vjp]") {
  Random random(940);
  for (const Index queries : {1, 7, 8, 9, 33, 65}) check_with_weights(random, {.queries = queries, .keys = 7});
  for (const Index keys : {1, 5, 6, 25, 96, 97, 200, 1100}) {
    check_with_weights(random, {.heads = 2, .queries = 9, .keys = keys, .head_dim = 16, .value_dim = 12});
  }
  check_with_weights(random, {.queries = 5, .keys = 0});
}

TEST_CASE("a gradient of the weights passes through every option", "[vjp]") {
  Random random(941);
  int checked = 0;
  constexpr int kTimes = 80;
  for (int time = 0; time < kTimes; ++time) {
    AttentionCase one = random_sizes(random);
    one.batch = 1 + random.below(2);
    one.keys = std::min<Index>(one.keys, 97);
    one.queries = random.pick(std::vector<Index>{1, 3, 17, 31});
    add_random_options(random, one);
    if (random.chance(0.3)) one.blocks = random_blocks(random);
    if (random.chance(0.4)) one.dropout = Dropout{.p = random.pick(std::vector<float>{0.3F, 1.0F}), .seed = 21};
    if (random.chance(0.3)) choose_normalizer(random, one);
    if (random.chance(0.4)) one.score = random_score(random);
    checked += check_with_weights(random, one) ? 1 : 0;
  }
  CHECK(checked >= kTimes * 3 / 4);
}

TEST_CASE("a gradient of the weights is not read where a key is masked", "[vjp]") {
  Random random(942);
  const AttentionTensors tensors = make_tensors(
      random,
      {.heads = 2, .kv_heads = 1, .queries = 40, .keys = 60, .window = {.left = 5, .right = 3}, .has_sinks = true});
  VjpGiven given = run_forward(random, tensors);
  give_weights_gradient(random, given);
  const auto expected = run_backward(given, tensors).bits();
  const reference::AttentionResult forward = reference::attention(given.inputs.forward, tensors.options);
  std::size_t pair = 0;
  for_each_element(given.weights_gradient.view.shape, [&](Index b, Index h, Index i, Index j) {
    if (forward.scores[2][pair++] == -static_cast<double>(kInfinity)) given.weights_gradient(b, h, i, j) = kNan;
  });
  CHECK((run_backward(given, tensors).bits() == expected));
}

TEST_CASE("a gradient of the weights gives the same bits by any workers", "[vjp]") {
  Random random(943);
  const AttentionTensors tensors = make_tensors(
      random, {.heads = 2, .queries = 70, .keys = 600, .head_dim = 64, .value_dim = 64, .has_sinks = true});
  VjpGiven given = run_forward(random, tensors);
  give_weights_gradient(random, given);
  check_workers(given, tensors);
}

TEST_CASE("a gradient of the weights of another shape is refused", "[vjp]") {
  Random random(944);
  const AttentionTensors tensors = make_tensors(random, {.heads = 2, .queries = 4, .keys = 5});
  VjpGiven given = run_forward(random, tensors);
  give_weights_gradient(random, given);
  given.inputs.weights_gradient.shape[3] = 4;
  Gradients gradients(tensors);
  const Status status = attention_vjp(given.inputs, tensors.options, gradients.views(), calling_thread());
  CHECK(status.code() == StatusCode::shape);
  CHECK_THAT(std::string(status.message()),
             Catch::Matchers::ContainsSubstring("dWeights must be [1, 2, 4, 5], got [1, 2, 4, 4]"));
  CHECK((gradients.bits() == Gradients(tensors).bits()));
}

}  // namespace heed::testing
