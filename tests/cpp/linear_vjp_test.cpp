// The gradients of linear attention: the reference against central differences, and the kernel against the reference
// within the bounds of what float32 may do.
#include <algorithm>
#include <bit>
#include <catch_amalgamated.hpp>

#include "differences.hpp"
#include "f16.hpp"
#include "linear_case.hpp"
#include "linear_vjp_reference.hpp"
#include "reference/linear_attention.hpp"
#include "report.hpp"

namespace heed::testing {
namespace {

/// A call, and the gradients of a loss in its results.
struct Scene {
  LinearTensors tensors;
  Owned<float> of_output, of_state;

  [[nodiscard]] LinearVjpInputs inputs() const { return {tensors.inputs(), of_output.reading(), of_state.reading()}; }
};

Scene make_scene(Random& random, const LinearCase& one, bool has_state_gradient = true) {
  Scene scene{make_tensors(random, one), {}, {}};
  const LinearInputs in = scene.tensors.inputs();
  const Shape& q = in.query.shape;
  const Shape& v = in.value.shape;
  scene.of_output = random_tensor(random, {q[0], std::max(q[1], v[1]), q[2], v[3]}, one.layout);
  if (has_state_gradient) {
    scene.of_state = random_tensor(random, {q[0], v[1], q[3], v[3] + (one.rule == LinearRule::elu ? 1 : 0)});
  }
  return scene;
}

/// The gradients that the kernel writes, in rows with padding.
struct Got {
  Owned<float> query, key, value, decay, beta, state;

  explicit Got(const LinearInputs& in, const LinearOptions& options) {
    const auto like = [](const auto& view) {
      return view.is_present() ? allocate(view.shape, Layout::padded, kUntouched) : Owned<float>();
    };
    query = like(in.query);
    key = like(in.key);
    value = like(in.value);
    decay = like(in.decay);
    beta = like(in.beta);
    const Shape& v = in.value.shape;
    state = allocate({v[0], v[1], in.key.shape[3], v[3] + (options.rule == LinearRule::elu ? 1 : 0)}, Layout::bhnd,
                     kUntouched);
  }

  [[nodiscard]] LinearGradients views() const {
    return {query.view, key.view, value.view, decay.view, beta.view, state.view};
  }

  [[nodiscard]] std::vector<std::uint32_t> bits() const {
    std::vector<std::uint32_t> all;
    for (const Owned<float>* tensor : {&query, &key, &value, &decay, &beta, &state}) {
      for (const float number : tensor->numbers) all.push_back(std::bit_cast<std::uint32_t>(number));
    }
    return all;
  }
};

Got run_backward(const LinearVjpInputs& inputs, const LinearOptions& options, Executor& executor = calling_thread()) {
  Got got(inputs.forward, options);
  const Status status = linear_attention_vjp(inputs, options, got.views(), executor);
  INFO(status.message());
  REQUIRE(status.is_ok());
  return got;
}

void check_tensor(const char* what, const Owned<float>& got, const std::vector<Bounded>& expected) {
  INFO(what);
  std::size_t at = 0;
  double worst = 0.0;
  for_each_element(got.view.shape, [&](Index b, Index h, Index i, Index d) {
    const auto [value, bound] = expected[at++];
    const double error = std::abs(static_cast<double>(got(b, h, i, d)) - value);
    worst = std::max(worst, error <= 0x1p-120 ? 0.0 : std::isfinite(error) ? error / bound : kInfinity);
  });
  CHECK(at == expected.size());
  report_ratio(what, worst);
  CHECK(worst <= 1.0);
  Index written = 0;
  for (const float number : got.numbers) written += number != kUntouched ? 1 : 0;
  CHECK(written == static_cast<Index>(expected.size()));
}

void check(const LinearVjpInputs& inputs, const LinearOptions& options) {
  const LinearVjpReference expected = reference_vjp(inputs, options);
  const Got got = run_backward(inputs, options);
  check_tensor("linear dq", got.query, expected.query);
  check_tensor("linear dk", got.key, expected.key);
  check_tensor("linear dv", got.value, expected.value);
  check_tensor("linear ddecay", got.decay, expected.decay);
  check_tensor("linear dbeta", got.beta, expected.beta);
  check_tensor("linear dstate", got.state, expected.state);
}

void check(Random& random, const LinearCase& one, bool has_state_gradient = true) {
  INFO(describe(one));
  const Scene scene = make_scene(random, one, has_state_gradient);
  check(scene.inputs(), scene.tensors.options);
}

double loss(const LinearVjpInputs& inputs, const LinearOptions& options) {
  const reference::LinearResult made = reference::linear_attention(inputs.forward, options);
  return dot(made.output, inputs.output_gradient) + dot(made.state, inputs.state_gradient);
}

}  // namespace

TEST_CASE("the gradient of heads that states share is the sum of those of heads of their own") {
  Random random(449);
  for (const LinearRule rule : kRules) {
    for (const auto& [heads, key_heads] : {std::pair<Index, Index>{2, 3}, {1, 6}, {6, 2}, {12, 1}, {3, 1}}) {
      const Scene scene = make_scene(random, {.rule = rule,
                                              .batch = 2,
                                              .heads = heads,
                                              .kv_heads = 6,
                                              .key_heads = key_heads,
                                              .queries = 35,
                                              .has_state = true,
                                              .has_shared_beta = true,
                                              .layout = Layout::padded});
      const Owned<float> queries = repeat_heads(scene.tensors.query, std::max<Index>(heads, 6));
      const Owned<float> keys = repeat_heads(scene.tensors.key, 6);
      LinearVjpInputs own = scene.inputs();
      own.forward.query = queries.reading();
      own.forward.key = keys.reading();
      const Got got = run_backward(scene.inputs(), scene.tensors.options);
      const Got wanted = run_backward(own, scene.tensors.options);
      INFO("rule " << static_cast<int>(rule) << ", " << heads << " query heads, " << key_heads << " key heads");
      const auto count_other = [](const Owned<float>& sums, const Owned<float>& parts) {
        const Index count = parts.view.shape[1] / sums.view.shape[1];
        Index other = 0;
        for_each_element(sums.view.shape, [&](Index b, Index h, Index i, Index d) {
          float sum = parts(b, h * count, i, d);
          for (Index part = 1; part < count; ++part) sum += parts(b, h * count + part, i, d);
          other += sums(b, h, i, d) != sum;
        });
        return other;
      };
      CHECK(count_other(got.query, wanted.query) == 0);
      CHECK(count_other(got.key, wanted.key) == 0);
      CHECK(count_other(got.value, wanted.value) == 0);
      CHECK(got.state.numbers == wanted.state.numbers);
      CHECK(got.beta.numbers == wanted.beta.numbers);
      CHECK(got.decay.numbers == wanted.decay.numbers);
    }
  }
}

TEST_CASE("the reference's gradients of linear attention are those that central differences give", "[linear-vjp]") {
  Random random(940);
  for (const LinearRule rule : kRules) {
    for (const bool is_causal : {true, false}) {
      if (!is_causal && rule != LinearRule::elu) continue;
      for (const bool is_other : {false, true}) {
        const LinearCase one{.rule = rule,
                             .batch = 2,
                             .heads = 4,
                             .kv_heads = 2,
                             .queries = 4,
                             .keys = is_causal ? 4 : 5,
                             .head_dim = 3,
                             .value_dim = 2,
                             .has_state = true,
                             .has_wide_decay = is_other,
                             .has_shared_beta = is_other,
                             .is_causal = is_causal};
        INFO(describe(one));
        Scene scene = make_scene(random, one);
        LinearTensors& tensors = scene.tensors;
        for (auto* tensor :
             {&tensors.query, &tensors.key, &tensors.value, &tensors.decay, &tensors.beta, &tensors.state}) {
          round_to_grid(tensor->numbers);
        }
        const LinearVjpReference exact = reference_vjp(scene.inputs(), tensors.options);
        const auto evaluate = [&] { return loss(scene.inputs(), tensors.options); };
        const auto compare = [&](const char* what, Owned<float>& tensor, const std::vector<Bounded>& gradients) {
          for (std::size_t n = 0; n < gradients.size(); ++n) {
            // The slope of elu has a corner at 0.
            if (rule == LinearRule::elu && std::abs(tensor.numbers[n]) < 0x1p-5F) continue;
            const double expected = difference(tensor.numbers[n], 0x1p-7F, evaluate).value;
            INFO(what << " " << n << ": " << gradients[n].value << ", by differences " << expected);
            CHECK(std::abs(gradients[n].value - expected) <= 2e-6 * (1.0 + std::abs(expected)));
          }
        };
        compare("query", tensors.query, exact.query);
        compare("key", tensors.key, exact.key);
        compare("value", tensors.value, exact.value);
        compare("decay", tensors.decay, exact.decay);
        compare("beta", tensors.beta, exact.beta);
        compare("state", tensors.state, exact.state);
      }
    }
  }
}

TEST_CASE("gradients of linear attention are the reference's, at lengths around the chunk", "[linear-vjp]") {
  Random random(941);
  for (const LinearRule rule : kRules) {
    for (const Index length : {0, 1, 2, 31, 32, 33, 64, 70}) {
      check(random,
            {.rule = rule,
             .queries = length,
             .head_dim = 10,
             .value_dim = 9,
             .has_state = length % 2 == 0,
             .has_wide_decay = length % 3 != 0},
            length % 2 == 1);
    }
  }
}

TEST_CASE("gradients of linear attention are the reference's, at widths around lanes and columns", "[linear-vjp]") {
  Random random(942);
  for (const LinearRule rule : kRules) {
    for (const Index dim : {1, 3, 4, 5, 8, 15, 17, 32, 33, 65}) {
      check(random, {.rule = rule,
                     .queries = 17,
                     .head_dim = dim,
                     .value_dim = random.pick<Index>({1, 2, 3, 4, 5, 8, 9, 17, 33}),
                     .has_state = random.chance(0.5),
                     .has_wide_decay = random.chance(0.5),
                     .layout = random.pick<Layout>({Layout::bhnd, Layout::bnhd, Layout::padded})});
    }
  }
}

TEST_CASE("heads that share a key and a beta add their gradients", "[linear-vjp]") {
  Random random(943);
  for (const LinearRule rule : kRules) {
    for (const bool has_shared_beta : {false, true}) {
      check(random, {.rule = rule,
                     .batch = 2,
                     .heads = 6,
                     .kv_heads = 2,
                     .queries = 35,
                     .head_dim = 12,
                     .value_dim = 7,
                     .has_state = true,
                     .has_shared_beta = has_shared_beta,
                     .layout = Layout::padded});
    }
  }
}

TEST_CASE("gradients through decays from none to all keep the bound", "[linear-vjp]") {
  Random random(944);
  for (const LinearRule rule : {LinearRule::gated, LinearRule::gated_delta}) {
    for (const float strength : {0.0F, 1e-4F, 0.1F, 1.0F, 20.0F}) {
      for (const bool is_wide : {false, true}) {
        check(random, {.rule = rule,
                       .queries = 100,
                       .head_dim = 8,
                       .value_dim = 5,
                       .has_state = true,
                       .has_wide_decay = is_wide,
                       .strength = strength});
      }
    }
  }
}

TEST_CASE("nothing goes back beyond a token that forgets", "[linear-vjp]") {
  Random random(945);
  for (const LinearRule rule : {LinearRule::gated, LinearRule::gated_delta}) {
    Scene scene = make_scene(random, {.rule = rule, .queries = 40, .has_state = true});
    for (Index d = 0; d < 8; ++d) scene.tensors.decay(0, 0, 36, d) = -kInfinity;
    check(scene.inputs(), scene.tensors.options);
    for_each_element(scene.of_output.view.shape, [&](Index b, Index h, Index i, Index e) {
      if (i < 36) scene.of_output(b, h, i, e) = 0.0F;
    });
    const Got got = run_backward(scene.inputs(), scene.tensors.options);
    for (Index d = 0; d < 8; ++d) {
      CHECK(got.decay(0, 0, 36, d) == 0.0F);
      for (Index i = 0; i < 36; ++i) CHECK(got.key(0, 0, i, d) == 0.0F);
      for (Index e = 0; e < 8; ++e) CHECK(got.state(0, 0, d, e) == 0.0F);
    }
  }
}

TEST_CASE("gradients of elu without causal, however many keys", "[linear-vjp]") {
  Random random(946);
  for (const Index keys : {0, 1, 31, 33, 40}) {
    for (const Index queries : {0, 1, 34}) {
      check(random, {.rule = LinearRule::elu,
                     .batch = 2,
                     .heads = 4,
                     .kv_heads = 2,
                     .queries = queries,
                     .keys = keys,
                     .head_dim = 5,
                     .value_dim = 4,
                     .has_state = true,
                     .is_causal = false});
    }
  }
  // Without any weight an output is 0, whatever the value.
  check(random, {.rule = LinearRule::elu, .queries = 3, .keys = 0, .is_causal = false});
}

TEST_CASE("gradients of linear attention take f16 and a scale", "[linear-vjp]") {
  Random random(947);
  for (const LinearRule rule : kRules) {
    Scene scene = make_scene(random, {.rule = rule, .heads = 2, .queries = 15, .head_dim = 11});
    const Owned<Float16> query = halve(scene.tensors.query, Layout::bhnd);
    const Owned<Float16> key = halve(scene.tensors.key, Layout::bhnd);
    const Owned<Float16> value = halve(scene.tensors.value, Layout::bhnd);
    LinearVjpInputs inputs = scene.inputs();
    inputs.forward.query = query.reading();
    inputs.forward.key = key.reading();
    inputs.forward.value = value.reading();
    if (rule != LinearRule::elu) scene.tensors.options.scale = -0.7F;
    check(inputs, scene.tensors.options);
  }
}

TEST_CASE("gradients of linear attention have the same bits for any number of workers, and stop when told",
          "[linear-vjp]") {
  Random random(948);
  for (const LinearRule rule : kRules) {
    const Scene scene = make_scene(random, {.rule = rule,
                                            .batch = 2,
                                            .heads = 4,
                                            .kv_heads = 2,
                                            .queries = 70,
                                            .head_dim = 24,
                                            .value_dim = 17,
                                            .has_state = true,
                                            .has_shared_beta = true});
    LinearOptions options = scene.tensors.options;
    const std::vector<std::uint32_t> expected = run_backward(scene.inputs(), options).bits();
    for (const int workers : {2, 3, 4}) {
      ReverseExecutor executor(workers);
      CHECK(run_backward(scene.inputs(), options, executor).bits() == expected);
    }
    const StopFlag stop{1};
    options.stop = &stop;
    const Got got(scene.inputs().forward, options);
    CHECK(linear_attention_vjp(scene.inputs(), options, got.views(), calling_thread()).code() == StatusCode::aborted);
    CHECK(got.query(0, 0, 0, 0) == kUntouched);
  }
}

TEST_CASE("gradients of decay, beta and state need not be wanted", "[linear-vjp]") {
  Random random(949);
  const Scene scene = make_scene(random, {.rule = LinearRule::gated_delta, .queries = 9, .has_state = true});
  const Got all = run_backward(scene.inputs(), scene.tensors.options);
  const Got some(scene.inputs().forward, scene.tensors.options);
  LinearGradients views = some.views();
  views.decay = views.beta = views.state = {};
  REQUIRE(linear_attention_vjp(scene.inputs(), scene.tensors.options, views, calling_thread()).is_ok());
  CHECK(some.key.numbers == all.key.numbers);
  CHECK(some.state(0, 0, 0, 0) == kUntouched);
}

TEST_CASE("gradients of linear attention refuse views of other sizes, and write nothing", "[linear-vjp]") {
  Random random(950);
  const Scene scene = make_scene(random, {.rule = LinearRule::gated_delta, .queries = 9, .has_state = true});
  const Got got(scene.inputs().forward, scene.tensors.options);
  const auto refuses = [&](const char* words, auto change) {
    LinearVjpInputs inputs = scene.inputs();
    LinearGradients gradients = got.views();
    change(inputs, gradients);
    const Status status = linear_attention_vjp(inputs, scene.tensors.options, gradients, calling_thread());
    INFO(words);
    CHECK(status.code() == StatusCode::shape);
    CHECK(status.message().find(words) != std::string_view::npos);
    CHECK(status.message().starts_with("linearAttentionVjp: "));
    CHECK(got.query(0, 0, 0, 0) == kUntouched);
  };
  refuses("outputGradient must be", [](auto& inputs, auto&) { inputs.output_gradient.shape[2] = 8; });
  refuses("outputGradient must have data", [](auto& inputs, auto&) { inputs.output_gradient.data = nullptr; });
  refuses("finalStateGradient must be", [](auto& inputs, auto&) { inputs.state_gradient.shape[3] = 7; });
  refuses("query and key must have the same head_dim", [](auto& inputs, auto&) { inputs.forward.key.shape[3] = 7; });
  refuses("the key's gradient must be", [](auto&, auto& gradients) { gradients.key.shape[2] = 8; });
  refuses("the value's gradient must have data", [](auto&, auto& gradients) { gradients.value.data = nullptr; });
  refuses("the decay's gradient must be contiguous", [](auto&, auto& gradients) { gradients.decay.strides[3] = 2; });
  refuses("the state's gradient must be", [](auto&, auto& gradients) { gradients.state.shape[1] = 2; });
}

}  // namespace heed::testing
