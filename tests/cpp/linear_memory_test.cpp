// The state of linear attention after many tokens, with decays from almost none to strong ones: errors must not add up
// from token to token as those of one number that is rounded the same way each time would.
#include <catch_amalgamated.hpp>

#include "linear_case.hpp"
#include "linear_error.hpp"
#include "reference/linear_attention.hpp"

namespace heed::testing {
namespace {

constexpr Index kLength = 65536;

/// One for each head.
constexpr float kDecays[] = {-1e-6F, -1e-5F, -1e-4F, -1e-3F, -1e-2F, -0.03F, -0.1F, -1.0F};

/// Of positive keys and values, so that a state is as large as what it is made of.
LinearTensors make_memory(LinearRule rule) {
  Random random(433);
  const auto heads = static_cast<Index>(std::size(kDecays));
  LinearTensors made = make_tensors(
      random,
      {.rule = rule, .heads = heads, .queries = kLength, .head_dim = 2, .value_dim = 3, .has_wide_decay = false});
  for (Owned<float>* tensor : {&made.key, &made.value}) {
    for (float& number : tensor->numbers) number = std::abs(number) + 0.125F;
  }
  // What the delta rules replace is little, or that would be all that forgets.
  for (float& number : made.beta.numbers) number *= 1e-5F;
  for_each_element(made.decay.view.shape,
                   [&](Index b, Index h, Index i, Index d) { made.decay(b, h, i, d) = kDecays[h]; });
  return made;
}

/// Errors in units of their bounds: the largest of the outputs, and of each head's state.
struct Worst {
  double output = 0.0;
  double state[std::size(kDecays)] = {};
};

Worst worst_of(const LinearGot& got, const reference::LinearResult& expected, const LinearBounds& bounds) {
  Worst worst;
  const auto compare = [](const Owned<float>& numbers, const std::vector<double>& exact,
                          const std::vector<double>& bound, auto worst_at) {
    std::size_t at = 0;
    for_each_element(numbers.view.shape, [&](Index b, Index h, Index i, Index d) {
      const double error = std::abs(static_cast<double>(numbers(b, h, i, d)) - exact[at]) / bound[at];
      double& most = worst_at(h);
      if (!(error <= most)) most = error;
      ++at;
    });
  };
  compare(got.output, expected.output, bounds.output, [&](Index /*h*/) -> double& { return worst.output; });
  compare(got.state, expected.state, bounds.state, [&](Index h) -> double& { return worst.state[h]; });
  return worst;
}

void check(const LinearGot& got, const reference::LinearResult& expected, const LinearBounds& bounds) {
  const Worst worst = worst_of(got, expected, bounds);
  CHECK(worst.output <= 1.0);
  for (std::size_t h = 0; h < std::size(kDecays); ++h) {
    INFO("decay " << kDecays[h]);
    CHECK(worst.state[h] <= 1.0);
  }
}

/// A call for each token, which hands its state on.
LinearGot run_by_tokens(const LinearTensors& tensors) {
  LinearGot got = make_results(tensors.inputs(), tensors.options);
  TensorView<const float> state{};
  LinearGot one;
  for (Index t = 0; t < kLength; ++t) {
    LinearGot next = run(tokens(tensors.inputs(), t, 1, state), tensors.options);
    for_each_element(next.output.view.shape,
                     [&](Index b, Index h, Index i, Index e) { got.output(b, h, t, e) = next.output(b, h, i, e); });
    one = std::move(next);
    state = one.state.reading();
  }
  got.state = std::move(one.state);
  return got;
}

}  // namespace

TEST_CASE("a long memory keeps the bound, in one call or in one for each token") {
  for (const LinearRule rule : {LinearRule::gated, LinearRule::gated_delta}) {
    INFO("rule " << static_cast<int>(rule));
    const LinearTensors tensors = make_memory(rule);
    const reference::LinearResult expected = reference::linear_attention(tensors.inputs(), tensors.options);
    const LinearBounds bounds = bound_linear(tensors.inputs(), tensors.options);
    check(run(tensors.inputs(), tensors.options), expected, bounds);
    INFO("token by token");
    check(run_by_tokens(tensors), expected, bounds);
  }
}

}  // namespace heed::testing
