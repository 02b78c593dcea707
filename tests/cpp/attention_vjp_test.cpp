// The backward pass of attention against the reference, around the sizes of lanes, tiles and blocks, and what it
// promises beside numbers.
#include <catch_amalgamated.hpp>
#include <cmath>

#include "attention_check.hpp"
#include "kernels/simd/width.hpp"
#include "vjp_check.hpp"

namespace heed::testing {

using kernels::kPanel;

namespace {

const ScoreCase kScores[] = {
    {.kind = ScoreKind::cosine},
    {.kind = ScoreKind::general, .query_dim = 11},
    {.kind = ScoreKind::additive},
    {.kind = ScoreKind::additive, .has_offset = true, .has_weights = true},
    {.kind = ScoreKind::additive, .hidden = 17, .query_dim = 5},
    {.kind = ScoreKind::additive, .hidden = 9, .has_offset = true, .has_weights = true},
    {.kind = ScoreKind::gated},
    {.kind = ScoreKind::gated, .has_offset = true},
    {.kind = ScoreKind::rbf},
    {.kind = ScoreKind::distance},
};

}  // namespace

TEST_CASE("gradients of any sizes are the reference's", "[vjp]") {
  Random random(910);
  const Index panel = kPanel;
  for (const Index queries : {Index{1}, Index{2}, panel - 1, panel, panel + 1, Index{63}, Index{64}, Index{65}}) {
    check_gradients(random, {.queries = queries, .keys = 7});
  }
  for (const Index keys : {1, 5, 6, 7, 23, 24, 25, 47, 48, 49, 95, 96, 97, 200}) {
    check_gradients(random, {.queries = 9, .keys = keys, .head_dim = 16, .value_dim = 12});
  }
  for (const Index dim : {Index{1}, Index{3}, panel - 1, panel, panel + 1, Index{33}, Index{64}, Index{128}}) {
    check_gradients(random, {.queries = 5, .keys = 30, .head_dim = dim, .value_dim = 5});
    check_gradients(random, {.queries = 5, .keys = 30, .head_dim = 8, .value_dim = dim});
  }
}

TEST_CASE("keys of several steps and splits have the reference's gradients", "[vjp]") {
  Random random(911);
  check_gradients(random, {.queries = 9, .keys = 1100, .head_dim = 64, .value_dim = 64});
  check_gradients(random, {.heads = 2, .queries = 3, .keys = 600, .head_dim = 128, .value_dim = 200});
  check_gradients(random, {.queries = 70, .keys = 200, .head_dim = 64, .causal = Causal::lower_right});
  check_gradients(random, {.heads = 8, .kv_heads = 8, .queries = 2, .keys = 600, .head_dim = 128, .value_dim = 128});
}

TEST_CASE("heads that share keys add to the same gradients, in any layout", "[vjp]") {
  Random random(912);
  for (const Layout layout : {Layout::bhnd, Layout::bnhd, Layout::padded}) {
    check_gradients(random, {.batch = 2, .heads = 6, .kv_heads = 2, .queries = 23, .keys = 30, .layout = layout});
  }
}

TEST_CASE("gradients pass through every option", "[vjp]") {
  Random random(913);
  const AttentionCase base{.batch = 2, .heads = 4, .kv_heads = 2, .queries = 17, .keys = 40, .head_dim = 12};
  const auto with = [&](auto change) {
    AttentionCase one = base;
    change(one);
    check_gradients(random, one);
  };
  for (const Causal causal : {Causal::lower_right, Causal::upper_left}) {
    with([&](AttentionCase& one) { one.causal = causal; });
  }
  with([](AttentionCase& one) { one.scale = 0.5F; });
  with([](AttentionCase& one) { one.scale = 0.0F; });
  with([](AttentionCase& one) { one.scale = -0.3F; });
  with([](AttentionCase& one) { one.softcap = 0.7F; });
  with([](AttentionCase& one) { one.window = {.left = 5, .right = 2}; });
  with([](AttentionCase& one) { one.mask = Shape{2, 4, 17, 40}; });
  with([](AttentionCase& one) { one.mask = Shape{1, 1, 17, 33}; });
  with([](AttentionCase& one) { one.has_query_lengths = one.has_key_lengths = one.has_query_offsets = true; });
  with([](AttentionCase& one) { one.has_alibi = true; });
  with([](AttentionCase& one) { one.has_sinks = true; });
  with([](AttentionCase& one) { one.dropout = Dropout{.p = 0.3F, .seed = 77}; });
  with([](AttentionCase& one) { one.dropout = Dropout{.p = 1.0F, .seed = 77}; });
  with([](AttentionCase& one) { one.query_type = one.key_type = one.value_type = DType::f16; });
  with([](AttentionCase& one) { one.mask_mod = 4; });
  with([](AttentionCase& one) { one.score.kind = ScoreKind::dot; });
  with([](AttentionCase& one) { one.normalizer = Normalizer::sigmoid; });
  with([](AttentionCase& one) { one.normalizer = Normalizer::none; });
  AttentionCase packed = base;
  packed.batch = 1;
  packed.sequences = 4;
  check_gradients(random, packed);
  packed.causal = Causal::lower_right;
  check_gradients(random, packed);
}

TEST_CASE("the gradient of a bias is summed over what it broadcasts to", "[vjp]") {
  Random random(914);
  for (const Index b : {1, 2}) {
    for (const Index h : {1, 4}) {
      for (const Index i : {1, 17}) {
        for (const Index j : {1, 20, 30}) {
          check_gradients(
              random, {.batch = 2, .heads = 4, .kv_heads = 2, .queries = 17, .keys = 30, .bias = Shape{b, h, i, j}});
        }
      }
    }
  }
  check_gradients(random, {.queries = 5, .keys = 1100, .head_dim = 64, .value_dim = 64, .bias = Shape{1, 1, 5, 1}});
}

TEST_CASE("blocks that are left out have gradients of zero, and the others the reference's", "[vjp]") {
  Random random(915);
  for (const Index size : {1, 8, 17, 32, 130}) {
    for (const double kept : {0.1, 0.7}) {
      check_gradients(random, {.heads = 2,
                               .kv_heads = 1,
                               .queries = 33,
                               .keys = 230,
                               .blocks = BlockCase{.queries = size, .keys = size, .kept = kept}});
    }
  }
}

TEST_CASE("sparsemax, top-k and the hard maximum differentiate what they kept", "[vjp]") {
  Random random(925);
  int checked = 0;
  constexpr int kTimes = 40;
  for (int time = 0; time < kTimes; ++time) {
    AttentionCase one{.heads = 2, .kv_heads = 1, .queries = 1 + random.below(20), .keys = 1 + random.below(60)};
    one.normalizer = random.pick(
        std::vector<Normalizer>{Normalizer::softmax, Normalizer::sparsemax, Normalizer::hard, Normalizer::sigmoid});
    if (one.normalizer == Normalizer::softmax || random.chance(0.4)) one.top_k = 1 + random.below(8);
    if (random.chance(0.3)) one.dropout = Dropout{.p = 0.4F, .seed = 5};
    if (random.chance(0.3)) one.causal = Causal::lower_right;
    if (random.chance(0.3)) one.softcap = 1.5F;
    if (random.chance(0.3)) one.bias = Shape{1, 1, one.queries, one.keys};
    if (random.chance(0.3)) one.mask = Shape{1, 1, one.queries, one.keys};
    if (one.normalizer == Normalizer::softmax) one.has_sinks = random.chance(0.3);
    checked += check_gradients(random, one) ? 1 : 0;
  }
  CHECK(checked >= kTimes / 2);
  for (const Normalizer normalizer : {Normalizer::sparsemax, Normalizer::hard}) {
    AttentionCase one{.heads = 2, .kv_heads = 1, .queries = 5, .keys = 1};
    one.normalizer = normalizer;
    CHECK(check_gradients(random, one));
  }
}

TEST_CASE("gradients of distances are right for keys that are close, and for all far from zero", "[vjp]") {
  Random random(927);
  const auto kind = GENERATE(ScoreKind::rbf, ScoreKind::distance);
  const auto normalizer = GENERATE(Normalizer::softmax, Normalizer::none);
  for (const float offset : {0.0F, 1e5F}) {
    for (const Index dim : {1, 5, 40}) {
      AttentionTensors tensors = make_tensors(random, {.batch = 2,
                                                       .heads = 2,
                                                       .queries = 21,
                                                       .keys = 33,
                                                       .head_dim = dim,
                                                       .score = {.kind = kind},
                                                       .normalizer = normalizer});
      for (Owned<float>* tensor : {&tensors.query, &tensors.key}) {
        for (float& number : tensor->numbers) number += offset;
      }
      // Every third key is one of the queries but for the last bit of a number.
      for_each_element(tensors.key.view.shape, [&](Index b, Index h, Index j, Index d) {
        if (j % 3 != 0) return;
        const float query = tensors.query(b, h, j % 21, d);
        tensors.key(b, h, j, d) = d == 0 ? std::nextafter(query, kInfinity) : query;
      });
      INFO("offset " << offset << ", " << dim << " dimensions");
      CHECK(check_gradients(random, tensors, {}));
    }
  }
}

TEST_CASE("every score function passes gradients to queries, keys and its parameters", "[vjp]") {
  Random random(926);
  for (const bool is_per_head : {false, true}) {
    for (const ScoreCase& score : kScores) {
      AttentionCase one{.batch = 2, .heads = 4, .kv_heads = 2, .queries = 21, .keys = 33, .score = score};
      one.score.is_per_head = is_per_head;
      check_gradients(random, one);
      one.causal = Causal::lower_right;
      one.softcap = 2.0F;
      one.has_sinks = true;
      one.query_type = one.key_type = one.value_type = DType::f16;
      check_gradients(random, one);
      // Several steps of keys.
      check_gradients(random, {.heads = 2, .queries = 3, .keys = 500, .value_dim = 300, .score = one.score});
    }
  }
}

TEST_CASE("options in random company have the reference's gradients", "[vjp]") {
  Random random(916);
  for (int time = 0; time < 80; ++time) {
    AttentionCase one = random_sizes(random);
    one.batch = 1;
    one.keys = std::min<Index>(one.keys, 97);
    one.queries = random.pick(std::vector<Index>{1, 3, 17, 31});
    add_random_options(random, one);
    if (random.chance(0.3)) one.blocks = random_blocks(random);
    if (random.chance(0.2)) one.mask_mod = 3;
    if (random.chance(0.3)) one.layout = Layout::bnhd;
    if (random.chance(0.3)) choose_normalizer(random, one);
    if (random.chance(0.5)) one.score = random_score(random);
    check_gradients(random, one);
  }
}

TEST_CASE("a query or a batch of nothing, and no keys, leave gradients of zero", "[vjp]") {
  Random random(917);
  const auto check = [&](AttentionCase one) {
    check_gradients(random, one);
    for (const Shape& bias : {Shape{1, 1, 1, 1}, Shape{1, 1, one.queries, 1}, Shape{1, 1, 1, one.keys},
                              Shape{one.batch, one.heads, one.queries, one.keys}}) {
      one.bias = bias;
      one.has_sinks = true;
      check_gradients(random, one);
    }
    one.has_sinks = false;
    for (const Normalizer normalizer :
         {Normalizer::softmax, Normalizer::sparsemax, Normalizer::sigmoid, Normalizer::hard, Normalizer::none}) {
      one.normalizer = normalizer;
      for (const ScoreCase& score : kScores) {
        one.score = score;
        check_gradients(random, one);
      }
    }
  };
  check({.heads = 4, .kv_heads = 2, .queries = 0, .keys = 5});
  check({.heads = 4, .kv_heads = 2, .queries = 5, .keys = 0});
  check({.heads = 4, .kv_heads = 2, .queries = 0, .keys = 0});
  check({.batch = 0, .heads = 4, .kv_heads = 2, .queries = 5, .keys = 5});
}

TEST_CASE("any workers in any order give the same bits", "[vjp]") {
  Random random(918);
  const AttentionCase cases[] = {
      {.queries = 70, .keys = 1100, .head_dim = 64, .value_dim = 64},
      {.batch = 2,
       .heads = 4,
       .kv_heads = 2,
       .queries = 70,
       .keys = 90,
       .bias = Shape{1, 1, 70, 90},
       .has_sinks = true},
  };
  for (const AttentionCase& one : cases) {
    INFO(describe(one));
    const AttentionTensors tensors = make_tensors(random, one);
    const VjpGiven given = run_forward(random, tensors);
    check_workers(given, tensors);
  }
}

TEST_CASE("a masked key, query or gradient reaches no gradient, NaN or not", "[vjp]") {
  Random random(919);
  const float softcap = GENERATE(0.0F, 2.0F);
  AttentionTensors tensors = make_tensors(random, {.heads = 2,
                                                   .kv_heads = 1,
                                                   .queries = 90,
                                                   .keys = 90,
                                                   .head_dim = 13,
                                                   .value_dim = 7,
                                                   .window = {.left = 5, .right = 3}});
  tensors.options.softcap = softcap;
  VjpGiven given = run_forward(random, tensors);
  const Gradients clean = run_backward(given, tensors);
  // Rows see keys up to 5 before and 3 after, so a bad key reaches queries 3 before to 5 after, and through these keys
  // at most 8 away. A bad query reaches the keys that it sees.
  const auto same = [](const Owned<float>& got, const Owned<float>& expected, Index from, Index to) {
    bool is_same = true;
    for_each_element(got.view.shape, [&](Index b, Index h, Index i, Index d) {
      if (i >= from && i <= to) return;
      is_same = is_same && got(b, h, i, d) == expected(b, h, i, d);
    });
    return is_same;
  };
  constexpr Index at = 40;
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    for (Owned<float>* tensor : {&tensors.key, &tensors.value, &tensors.query, &given.output_gradient}) {
      float& number = (*tensor)(0, 0, at, 2);
      const float before = number;
      number = bad;
      const Gradients gradients = run_backward(given, tensors);
      if (std::isnan(bad)) CHECK(std::isnan(gradients.query(0, 0, at, 0)));
      CHECK(same(gradients.query, clean.query, at - 3, at + 5));
      CHECK(same(gradients.key, clean.key, at - 8, at + 8));
      CHECK(same(gradients.value, clean.value, at - 8, at + 8));
      number = before;
    }
  }
}

TEST_CASE("a gradient that is not wanted changes no other", "[vjp]") {
  Random random(921);
  const AttentionTensors tensors = make_tensors(random, {.queries = 40, .keys = 50, .has_sinks = true});
  const VjpGiven given = run_forward(random, tensors);
  const Gradients expected = run_backward(given, tensors);
  const auto without = [&](auto change) {
    Gradients gradients(tensors);
    AttentionGradients views = gradients.views();
    change(views);
    REQUIRE(attention_vjp(given.inputs, tensors.options, views, calling_thread()).is_ok());
    return gradients;
  };
  const Gradients only_value = without([](AttentionGradients& views) { views = {.value = views.value}; });
  CHECK((only_value.value.numbers == expected.value.numbers));
  const Gradients only_query = without([](AttentionGradients& views) { views = {.query = views.query}; });
  CHECK((only_query.query.numbers == expected.query.numbers));
  const Gradients only_key = without([](AttentionGradients& views) { views = {.key = views.key}; });
  CHECK((only_key.key.numbers == expected.key.numbers));
}

TEST_CASE("what the backward pass cannot take is refused, and nothing is written", "[vjp]") {
  Random random(922);
  const AttentionTensors tensors = make_tensors(random, {.heads = 2, .queries = 4, .keys = 5});
  const VjpGiven given = run_forward(random, tensors);
  const auto refused = [&](StatusCode code, const char* part, auto change) {
    AttentionVjpInputs inputs = given.inputs;
    AttentionOptions options = tensors.options;
    Gradients gradients(tensors);
    AttentionGradients views = gradients.views();
    change(inputs, options, views);
    const Status status = attention_vjp(inputs, options, views, calling_thread());
    INFO(status.message());
    CHECK(status.code() == code);
    CHECK_THAT(std::string(status.message()), Catch::Matchers::ContainsSubstring(part));
    CHECK((gradients.bits() == Gradients(tensors).bits()));
  };
  using Inputs = AttentionVjpInputs;
  using Options = AttentionOptions;
  using Views = AttentionGradients;
  refused(StatusCode::shape, "dOutput must be [1, 2, 4, 8], got [1, 2, 3, 8]",
          [](Inputs& in, Options&, Views&) { in.output_gradient.shape[2] = 3; });
  refused(StatusCode::shape, "output must be", [](Inputs& in, Options&, Views&) { in.output.shape[3] = 2; });
  refused(StatusCode::shape, "lse must be", [](Inputs& in, Options&, Views&) { in.log_sum_exp.shape[2] = 2; });
  refused(StatusCode::shape, "needs the output and lse", [](Inputs& in, Options&, Views&) { in.log_sum_exp = {}; });
  refused(StatusCode::shape, "dq must be", [](Inputs&, Options&, Views& out) { out.query.shape[3] = 7; });
  refused(StatusCode::shape, "dv must be", [](Inputs&, Options&, Views& out) { out.value.shape[2] = 4; });
  refused(StatusCode::shape, "contiguous", [](Inputs&, Options&, Views& out) { out.key.strides[3] = 2; });
  refused(StatusCode::option, "no bias", [](Inputs&, Options&, Views& out) { out.bias = out.query; });
  refused(StatusCode::option, "no sinks", [](Inputs&, Options&, Views& out) { out.sinks = out.log_scale; });
  refused(StatusCode::option, "not given", [](Inputs&, Options&, Views& out) { out.score.w = out.query; });
  refused(StatusCode::option, "with that of the query", [](Inputs&, Options&, Views& out) { out.query = {}; });
  refused(StatusCode::shape, "must match", [](Inputs& in, Options&, Views&) { in.forward.key.shape[3] = 7; });
  refused(StatusCode::option, "all 9 queries", [](Inputs&, Options& options, Views&) {
    options.slice_of = SliceOf{.batch = 1, .query_heads = 2, .query_length = 9};
  });
}

TEST_CASE("a stopped backward pass says so", "[vjp]") {
  Random random(923);
  AttentionTensors tensors = make_tensors(random, {.queries = 40, .keys = 50});
  const VjpGiven given = run_forward(random, tensors);
  const StopFlag stop{1};
  tensors.options.stop = &stop;
  Gradients gradients(tensors);
  CHECK(attention_vjp(given.inputs, tensors.options, gradients.views(), calling_thread()).code() ==
        StatusCode::aborted);
}

TEST_CASE("slices of heads and batch entries have the bits of the whole", "[vjp]") {
  Random random(924);
  const AttentionTensors tensors = make_tensors(random, {.batch = 2,
                                                         .heads = 4,
                                                         .kv_heads = 2,
                                                         .queries = 9,
                                                         .keys = 1100,
                                                         .head_dim = 64,
                                                         .value_dim = 64,
                                                         .has_query_lengths = true,
                                                         .has_alibi = true,
                                                         .has_sinks = true,
                                                         .dropout = Dropout{.p = 0.2F, .seed = 9}});
  const VjpGiven given = run_forward(random, tensors);
  Gradients whole = run_backward(given, tensors);
  Gradients parts(tensors);
  const auto of = [](auto view, Index batch, Index head, Index heads) {
    view.data += batch * view.strides[0] + head * view.strides[1];
    view.shape[0] = 1;
    view.shape[1] = heads;
    return view;
  };
  for (Index batch = 0; batch < 2; ++batch) {
    for (Index group = 0; group < 2; ++group) {
      const Index head = 2 * group;
      AttentionOptions options = tensors.options;
      options.slice_of = SliceOf{
          .first_batch = batch, .first_head = head, .first_query = 0, .batch = 2, .query_heads = 4, .query_length = 9};
      const AttentionVjpInputs inputs{.forward = {of(tensors.query.reading(), batch, head, 2),
                                                  of(tensors.key.reading(), batch, group, 1),
                                                  of(tensors.value.reading(), batch, group, 1),
                                                  {},
                                                  {}},
                                      .output = of(given.inputs.output, batch, head, 2),
                                      .log_sum_exp = of(given.inputs.log_sum_exp, batch, head, 2),
                                      .output_gradient = of(given.inputs.output_gradient, batch, head, 2)};
      const AttentionGradients views{.query = of(parts.query.view, batch, head, 2),
                                     .key = of(parts.key.view, batch, group, 1),
                                     .value = of(parts.value.view, batch, group, 1)};
      REQUIRE(attention_vjp(inputs, options, views, calling_thread()).is_ok());
    }
  }
  CHECK((parts.query.numbers == whole.query.numbers));
  CHECK((parts.key.numbers == whole.key.numbers));
  CHECK((parts.value.numbers == whole.value.numbers));
}

}  // namespace heed::testing
