// Linear attention against the double-precision reference.
#include <algorithm>
#include <catch_amalgamated.hpp>

#include "f16.hpp"
#include "linear_case.hpp"
#include "linear_error.hpp"
#include "reference/linear_attention.hpp"

namespace heed::testing {
namespace {

Index count_beyond(const Owned<float>& got, const std::vector<double>& expected, const std::vector<double>& bounds) {
  Index wrong = 0;
  std::size_t at = 0;
  for_each_element(got.view.shape, [&](Index b, Index h, Index i, Index d) {
    wrong += !(std::abs(static_cast<double>(got(b, h, i, d)) - expected[at]) <= bounds[at]);
    ++at;
  });
  CHECK(at == expected.size());
  return wrong;
}

void check(const LinearInputs& inputs, const LinearOptions& options) {
  const reference::LinearResult expected = reference::linear_attention(inputs, options);
  const LinearBounds bounds = bound_linear(inputs, options);
  const LinearGot got = run(inputs, options);
  CHECK(count_beyond(got.output, expected.output, bounds.output) == 0);
  CHECK(count_beyond(got.state, expected.state, bounds.state) == 0);
}

void check(Random& random, const LinearCase& one) {
  INFO(describe(one));
  const LinearTensors tensors = make_tensors(random, one);
  check(tensors.inputs(), tensors.options);
}

}  // namespace

TEST_CASE("linear attention is what the reference says, at lengths around the chunk") {
  Random random(420);
  for (const LinearRule rule : kRules) {
    for (const Index length : {1, 2, 5, 6, 7, 11, 12, 13, 23, 24, 25, 36, 50}) {
      check(random, {.rule = rule,
                     .queries = length,
                     .head_dim = 10,
                     .value_dim = 9,
                     .has_state = length % 2 == 0,
                     .has_wide_decay = length % 3 != 0});
    }
  }
}

TEST_CASE("linear attention is what the reference says, at widths around lanes, tiles and panels") {
  Random random(421);
  for (const LinearRule rule : kRules) {
    for (const Index dim : {1, 2, 3, 5, 7, 8, 9, 15, 17, 31, 32, 33, 64}) {
      const Index value_dim = random.pick<Index>({1, 2, 4, 7, 8, 9, 16, 17, 33, 65});
      check(random, {.rule = rule,
                     .queries = 17,
                     .head_dim = dim,
                     .value_dim = value_dim,
                     .has_state = random.chance(0.5),
                     .layout = random.pick<Layout>({Layout::bhnd, Layout::padded})});
    }
  }
}

TEST_CASE("query heads read the head of their group, batch entries their own states") {
  Random random(422);
  for (const LinearRule rule : kRules) {
    check(random, {.rule = rule,
                   .batch = 2,
                   .heads = 6,
                   .kv_heads = 2,
                   .queries = 15,
                   .head_dim = 12,
                   .value_dim = 20,
                   .has_state = true,
                   .has_shared_beta = true,
                   .layout = Layout::padded});
    check(random, {.rule = rule, .heads = 5, .kv_heads = 1, .queries = 13, .head_dim = 6, .value_dim = 3});
  }
}

TEST_CASE("states that share keys or queries have the bits of states with their own") {
  Random random(433);
  for (const LinearRule rule : kRules) {
    for (const auto& [heads, key_heads] : {std::pair<Index, Index>{2, 3}, {1, 6}, {6, 2}, {12, 1}, {3, 1}}) {
      const LinearCase one{.rule = rule,
                           .batch = 2,
                           .heads = heads,
                           .kv_heads = 6,
                           .key_heads = key_heads,
                           .queries = 15,
                           .value_dim = 20,
                           .has_state = true,
                           .layout = Layout::padded};
      INFO(describe(one));
      const LinearTensors tensors = make_tensors(random, one);
      const Owned<float> queries = repeat_heads(tensors.query, std::max<Index>(heads, 6));
      const Owned<float> keys = repeat_heads(tensors.key, 6);
      LinearInputs own = tensors.inputs();
      own.query = queries.reading();
      own.key = keys.reading();
      const LinearGot got = run(tensors.inputs(), tensors.options), wanted = run(own, tensors.options);
      CHECK(got.output.numbers == wanted.output.numbers);
      CHECK(got.state.numbers == wanted.state.numbers);
    }
  }
}

TEST_CASE("decays from none to all keep the bound, over many tokens") {
  Random random(423);
  for (const LinearRule rule : {LinearRule::gated, LinearRule::gated_delta}) {
    for (const float strength : {0.0F, 0.01F, 1.0F, 30.0F}) {
      for (const bool is_wide : {false, true}) {
        check(random, {.rule = rule,
                       .queries = 200,
                       .head_dim = 16,
                       .value_dim = 8,
                       .has_state = true,
                       .has_wide_decay = is_wide,
                       .strength = strength});
      }
    }
  }
}

TEST_CASE("a decay of -infinity forgets everything before, to the bit") {
  Random random(424);
  for (const LinearRule rule : {LinearRule::gated, LinearRule::gated_delta}) {
    LinearTensors tensors = make_tensors(random, {.rule = rule, .queries = 24, .has_state = true});
    for (Index d = 0; d < 8; ++d) tensors.decay(0, 0, 12, d) = -kInfinity;
    const LinearGot whole = run(tensors.inputs(), tensors.options);
    const LinearGot end = run(tokens(tensors.inputs(), 12, 12, {}), tensors.options);
    Index different = 0;
    for_each_element(end.output.view.shape, [&](Index b, Index h, Index i, Index e) {
      different += whole.output(b, h, i + 12, e) != end.output(b, h, i, e);
    });
    CHECK(different == 0);
    CHECK(whole.state.numbers == end.state.numbers);
  }
}

TEST_CASE("elu without causal lets every query see all keys, however many") {
  Random random(425);
  for (const Index keys : {0, 1, 11, 12, 30}) {
    check(random, {.rule = LinearRule::elu,
                   .batch = 2,
                   .heads = 4,
                   .kv_heads = 2,
                   .queries = 14,
                   .keys = keys,
                   .has_state = true,
                   .is_causal = false});
  }
  check(random, {.rule = LinearRule::elu, .queries = 14, .keys = 5, .is_causal = false});
}

TEST_CASE("elu without any key gives zeros") {
  Random random(426);
  const LinearTensors tensors = make_tensors(random, {.rule = LinearRule::elu, .keys = 0, .is_causal = false});
  const LinearGot got = run(tensors.inputs(), tensors.options);
  for_each_element(got.output.view.shape,
                   [&](Index b, Index h, Index i, Index e) { CHECK(got.output(b, h, i, e) == 0.0F); });
}

TEST_CASE("linear attention takes f16 and a scale") {
  Random random(427);
  for (const LinearRule rule : kRules) {
    LinearTensors tensors = make_tensors(random, {.rule = rule, .heads = 2, .queries = 15, .head_dim = 11});
    const Owned<Float16> query = halve(tensors.query, Layout::bhnd);
    const Owned<Float16> key = halve(tensors.key, Layout::bhnd);
    const Owned<Float16> value = halve(tensors.value, Layout::bhnd);
    LinearInputs inputs = tensors.inputs();
    inputs.query = query.reading();
    inputs.key = key.reading();
    inputs.value = value.reading();
    if (rule != LinearRule::elu) tensors.options.scale = -0.7F;
    INFO("rule " << static_cast<int>(rule));
    check(inputs, tensors.options);
  }
}

TEST_CASE("no tokens leave the state as it is, and a state that is not given is zeros") {
  Random random(428);
  for (const LinearRule rule : kRules) {
    for (const bool has_state : {false, true}) {
      const LinearTensors tensors = make_tensors(random, {.rule = rule, .queries = 0, .has_state = has_state});
      const LinearGot got = run(tensors.inputs(), tensors.options);
      for_each_element(got.state.view.shape, [&](Index b, Index h, Index i, Index e) {
        CHECK(got.state(b, h, i, e) == (has_state ? tensors.state(b, h, i, e) : 0.0F));
      });
    }
  }
}

TEST_CASE("linear attention handed over at any token is the whole") {
  Random random(429);
  for (const LinearRule rule : kRules) {
    const LinearCase one{.rule = rule, .heads = 4, .kv_heads = 2, .queries = 31, .head_dim = 9, .has_state = true};
    const LinearTensors tensors = make_tensors(random, one);
    const LinearBounds bounds = bound_linear(tensors.inputs(), tensors.options);
    const LinearGot whole = run(tensors.inputs(), tensors.options);
    for (const Index cut : {0, 1, 7, 12, 18, 30, 31}) {
      const LinearInputs in = tensors.inputs();
      const LinearGot before = run(tokens(in, 0, cut, in.state), tensors.options);
      const LinearGot after = run(tokens(in, cut, 31 - cut, before.state.reading()), tensors.options);
      Index wrong = 0;
      std::size_t at = 0;
      for_each_element(whole.output.view.shape, [&](Index b, Index h, Index i, Index e) {
        const float got = i < cut ? before.output(b, h, i, e) : after.output(b, h, i - cut, e);
        // Both are within the bound of the same exact number.
        wrong += !(std::abs(static_cast<double>(got) - static_cast<double>(whole.output(b, h, i, e))) <=
                   2.0 * bounds.output[at]);
        ++at;
      });
      at = 0;
      for_each_element(whole.state.view.shape, [&](Index b, Index h, Index i, Index e) {
        wrong += !(std::abs(static_cast<double>(after.state(b, h, i, e)) -
                            static_cast<double>(whole.state(b, h, i, e))) <= 2.0 * bounds.state[at]);
        ++at;
      });
      INFO("rule " << static_cast<int>(rule) << ", cut at " << cut);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("what comes later changes nothing before, NaN or not") {
  Random random(430);
  for (const LinearRule rule : kRules) {
    LinearTensors tensors = make_tensors(random, {.rule = rule, .heads = 2, .kv_heads = 1, .queries = 20});
    const LinearGot clean = run(tensors.inputs(), tensors.options);
    const float key = tensors.key(0, 0, 8, 3), value = tensors.value(0, 0, 9, 2);
    tensors.key(0, 0, 8, 3) = kNan;
    tensors.value(0, 0, 9, 2) = kInfinity;
    const LinearGot dirty = run(tensors.inputs(), tensors.options);
    tensors.key(0, 0, 8, 3) = key;
    tensors.value(0, 0, 9, 2) = value;
    for (Index i = 0; i < 20; ++i) {
      INFO(", rule " << static_cast<int>(rule) << ", token " << i);
      CHECK((clean.output(0, 1, i, 2) == dirty.output(0, 1, i, 2)) == (i < 8));
    }
  }
}

TEST_CASE("linear attention gives the same bits for any number of workers, and stops when it is told") {
  Random random(431);
  for (const LinearRule rule : kRules) {
    const LinearTensors tensors = make_tensors(
        random, {.rule = rule, .heads = 2, .queries = 40, .head_dim = 24, .value_dim = 71, .has_state = true});
    const LinearGot expected = run(tensors.inputs(), tensors.options);
    for (const int workers : {2, 3, 8}) {
      ReverseExecutor executor(workers);
      const LinearGot got = run(tensors.inputs(), tensors.options, executor);
      Index different = 0;
      for_each_element(expected.output.view.shape, [&](Index b, Index h, Index i, Index e) {
        different += got.output(b, h, i, e) != expected.output(b, h, i, e);
      });
      CHECK(different == 0);
      CHECK(got.state.numbers == expected.state.numbers);
    }
    const StopFlag stop{1};
    LinearOptions options = tensors.options;
    options.stop = &stop;
    const LinearGot got = make_results(tensors.inputs(), options);
    CHECK(linear_attention(tensors.inputs(), options, {.output = got.output.view, .state = got.state.view},
                           calling_thread())
              .code() == StatusCode::aborted);
    CHECK(got.output(0, 0, 0, 0) == kUntouched);
  }
}

TEST_CASE("either result may be absent") {
  Random random(432);
  for (const LinearRule rule : kRules) {
    const LinearTensors tensors = make_tensors(random, {.rule = rule, .queries = 20});
    const LinearGot both = run(tensors.inputs(), tensors.options);
    const LinearGot some = make_results(tensors.inputs(), tensors.options);
    REQUIRE(
        linear_attention(tensors.inputs(), tensors.options, {.output = some.output.view}, calling_thread()).is_ok());
    CHECK(some.output(0, 0, 19, 7) == both.output(0, 0, 19, 7));
    REQUIRE(linear_attention(tensors.inputs(), tensors.options, {.state = some.state.view}, calling_thread()).is_ok());
    CHECK(some.state.numbers == both.state.numbers);
  }
}

}  // namespace heed::testing
