// KV caches: keys and values in pages give what the same numbers give in tensors.
#include <catch_amalgamated.hpp>
#include <utility>

#include "attention_check.hpp"
#include "heed/machine.hpp"
#include "paged.hpp"

namespace heed::testing {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::i8_keys};

/// Against the reference, which reads the same pages: so the bound is that of the arithmetic alone.
void check_paged(Random& random, const AttentionTensors& tensors, const Paging& paging,
                 std::optional<ScoreStage> scores = std::nullopt) {
  const Paged paged(random, tensors.inputs(), paging);
  const Expected expected = expect(paged.inputs(), tensors.options);
  for (const int workers : {1, 3}) {
    ReverseExecutor executor(workers);
    const Wanted wanted =
        fitting({.weights = random.chance(0.5), .entropy = random.chance(0.5), .scores = scores}, tensors.options);
    const Results results = run(paged.inputs(), tensors.options, executor, wanted);
    const Comparison comparison = compare(expected, results);
    INFO(", " << workers << " workers, " << comparison.where);
    CHECK(comparison.worst() <= 1.0);
    CHECK(results.is_padding_untouched());
  }
}

AttentionCase random_case(Random& random) {
  const Index group = random.pick(std::vector<Index>{1, 1, 2, 4});
  const Index groups = 1 + random.below(3);
  AttentionCase one{.batch = 1 + random.below(2),
                    .heads = groups * group,
                    .kv_heads = groups,
                    .queries = random.pick(std::vector<Index>{1, 1, 2, 5, 17, 40}),
                    .keys = random.pick(std::vector<Index>{1, 8, 95, 96, 97, 200, 700}),
                    .head_dim = random.pick(std::vector<Index>{8, 33, 64, 128}),
                    .value_dim = random.pick(std::vector<Index>{1, 10, 64, 128})};
  add_random_options(random, one);
  one.query_type = one.key_type = one.value_type = DType::f32;
  if (random.chance(0.4)) one.score = random_score(random);
  if (random.chance(0.4)) choose_normalizer(random, one);
  return one;
}

}  // namespace

TEST_CASE("keys and values in pages stay within the error model, at any type and offset") {
  Random random(250);
  // Heads, of which two share a head of keys or none do, and queries.
  constexpr std::pair<Index, Index> kQueries[] = {{2, 1}, {4, 1}, {4, 2}, {4, 19}};
  for (const DType dtype : kTypes) {
    for (const Index rows : {1, 7, 32, 96, 1000}) {
      for (const Index first : {Index{0}, rows / 2, rows - 1}) {
        for (const auto& [heads, queries] : kQueries) {
          AttentionCase one{.batch = 2,
                            .heads = heads,
                            .kv_heads = 2,
                            .queries = queries,
                            .keys = 205,
                            .head_dim = 33,
                            .value_dim = 17};
          if (queries == 1) one.head_dim = one.value_dim = 64;
          one.causal = queries == 19 ? Causal::lower_right : Causal::none;
          INFO(describe(one) << ", dtype " << static_cast<int>(dtype) << " in pages of " << rows << " from " << first);
          check_paged(random, make_tensors(random, one), {dtype, rows, first, random.chance(0.5)});
        }
      }
    }
  }
}

TEST_CASE("a query meets short keys in pages by twos and long ones one by one, within the error model") {
  Random random(256);
  for (const DType dtype : kTypes) {
    for (const Index dim : {Index{80}, Index{96}, Index{100}, Index{112}, Index{192}, Index{208}, Index{256}}) {
      const AttentionCase one{.heads = 2, .kv_heads = 2, .queries = 1, .keys = 103, .head_dim = dim, .value_dim = dim};
      INFO(describe(one) << ", dtype " << static_cast<int>(dtype));
      check_paged(random, make_tensors(random, one), {.dtype = dtype, .rows = 21, .is_finite = true});
    }
  }
}

TEST_CASE("heads that share keys in pages stay within the error model, however many") {
  Random random(257);
  for (const DType dtype : kTypes) {
    for (const Index heads : {2, 3, 4, 5, 7}) {
      for (const Index keys : {1, 2, 3, 5, 103}) {
        for (const Index dim : {Index{16}, Index{40}, Index{64}, Index{208}}) {
          const AttentionCase one{
              .heads = 2 * heads, .kv_heads = 2, .queries = 1, .keys = keys, .head_dim = dim, .value_dim = dim};
          // Pages alone are halved where they are longer than 32 rows.
          const Index rows = random.pick(std::vector<Index>{21, 96, 200});
          INFO(describe(one) << ", dtype " << static_cast<int>(dtype) << " in pages of " << rows);
          check_paged(random, make_tensors(random, one), {.dtype = dtype, .rows = rows, .is_finite = true},
                      ScoreStage::raw);
        }
      }
    }
  }
}

TEST_CASE("f16 keys in pages meet queries as small and as large as f32 has them") {
  Random random(255);
  for (const Index heads : {2, 4, 8}) {
    const AttentionCase one{.heads = heads, .kv_heads = 2, .queries = 1, .keys = 205, .head_dim = 64, .value_dim = 64};
    for (const float size : {1e-34F, 1e-30F, 1e-24F, 0x1p-20F, 1e-5F, 0x1p59F, 1e18F, 1e20F, 1e25F, 1e30F}) {
      AttentionTensors tensors = make_tensors(random, one);
      // Beside others that share their keys and are as small as usual.
      for_each_element(tensors.query.view.shape, [&](Index b, Index h, Index i, Index d) {
        if (heads == 2 || h % 2 == 1) tensors.query(b, h, i, d) *= size;
      });
      // Every other key has subnormal numbers only.
      for_each_element(tensors.key.view.shape, [&](Index b, Index h, Index j, Index d) {
        if (j % 2 == 1) tensors.key(b, h, j, d) *= 0x1p-18F;
      });
      INFO("queries of " << size << ", " << heads << " heads");
      check_paged(random, tensors, {.dtype = DType::f16, .is_finite = true}, ScoreStage::raw);
    }
  }
}

TEST_CASE("keys and values in pages stay within the error model, in the company of any option") {
  Random random(251);
  for (int round = 0; round < 120; ++round) {
    const AttentionCase one = random_case(random);
    const Index rows = random.pick(std::vector<Index>{5, 64, 96});
    const Paging paging{kTypes[random.below(3)], rows, random.below(rows), random.chance(0.5)};
    INFO(describe(one) << ", dtype " << static_cast<int>(paging.dtype) << " in pages of " << rows << " from "
                       << paging.first);
    check_paged(random, make_tensors(random, one), paging);
  }
}

TEST_CASE("pages give the bits of the same numbers elsewhere where their blocks are the same") {
  Random random(252);
  for (const Index queries : {1, 3, 40}) {
    const AttentionCase one{
        .batch = 2, .heads = 6, .kv_heads = 3, .queries = queries, .keys = 700, .head_dim = 64, .value_dim = 64};
    const AttentionTensors tensors = make_tensors(random, one);
    const Paged paged(random, tensors.inputs(), {.rows = 1024});
    INFO(", " << queries << " queries");
    const auto expected = run(tensors.inputs(), tensors.options).bits();
    CHECK(run(paged.inputs(), tensors.options).bits() == expected);
  }
}

TEST_CASE("a query gives the same bits whatever else is asked for, wherever in its pages its keys begin and end") {
  Random random(254);
  for (int round = 0; round < 60; ++round) {
    AttentionCase one{.heads = random.pick(std::vector<Index>{2, 2, 4, 6, 8}),
                      .kv_heads = 2,
                      .queries = 1,
                      .keys = 100 + random.below(900),
                      .head_dim = random.pick(std::vector<Index>{16, 16, 16, 97, 208}),
                      .value_dim = random.pick(std::vector<Index>{16, 33, 64, 97, 208}),
                      .causal = Causal::lower_right,
                      .has_key_lengths = random.chance(0.5)};
    if (random.chance(0.5)) one.window.left = random.below(one.keys);
    one.has_query_offsets = random.chance(0.5);
    const AttentionTensors tensors = make_tensors(random, one);
    for (const DType dtype : kTypes) {
      const Index rows = random.pick(std::vector<Index>{32, 64, 96, 100, 128});
      const Paged paged(random, tensors.inputs(), {dtype, rows, random.below(rows), true});
      INFO(describe(one) << ", dtype " << static_cast<int>(dtype) << " in pages of " << rows);
      const Results lean = run(paged.inputs(), tensors.options, {.weights = false, .entropy = false});
      for (const ScoreStage stage : {ScoreStage::raw, ScoreStage::masked}) {
        const Results full = run(paged.inputs(), tensors.options, {.scores = stage});
        CHECK(full.output.numbers == lean.output.numbers);
        CHECK(full.log_sum_exp.numbers == lean.log_sum_exp.numbers);
      }
    }
  }
}

TEST_CASE("a value in a page that is not finite reaches what sees it and nothing else") {
  Random random(253);
  AttentionCase one{.heads = 2, .queries = 3, .keys = 150, .value_dim = 6};
  one.mask = Shape{1, 1, 1, 150};
  AttentionTensors tensors = make_tensors(random, one);
  for (const DType dtype : {DType::f32, DType::f16}) {
    for (const bool is_attended : {false, true}) {
      tensors.mask(0, 0, 0, 101) = is_attended ? 1 : 0;
      const Paged clean(random, tensors.inputs(), {.dtype = dtype});
      const float good = std::exchange(tensors.value(0, 0, 101, 2), kInfinity);
      const Paged spoilt(random, tensors.inputs(), {.dtype = dtype});
      tensors.value(0, 0, 101, 2) = good;
      const Results expected = run(clean.inputs(), tensors.options);
      const Results got = run(spoilt.inputs(), tensors.options);
      int wrong = 0;
      for_each_element(one.output_shape(), [&](Index b, Index h, Index i, Index e) {
        const bool is_reached = is_attended && e == 2;
        wrong += (got.output(b, h, i, e) == expected.output(b, h, i, e)) == is_reached ? 1 : 0;
      });
      INFO(", attended " << is_attended);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("pages that cannot hold the keys, and int8 without any, are refused") {
  Random random(254);
  const AttentionTensors tensors = make_tensors(random, {.keys = 20});
  const Paged paged(random, tensors.inputs(), {.dtype = DType::i8_keys, .rows = 8});
  const auto status_of = [&](auto spoil) {
    AttentionInputs inputs = paged.inputs();
    spoil(inputs);
    return attention(inputs, tensors.options, Results(inputs).outputs(), calling_thread()).code();
  };
  CHECK(status_of([](AttentionInputs&) {}) == StatusCode::ok);
  CHECK(status_of([](AttentionInputs& in) { in.key.pages.first = in.value.pages.first = 20; }) == StatusCode::option);
  CHECK(status_of([](AttentionInputs& in) { in.key.pages.rows = in.value.pages.rows = 0; }) == StatusCode::option);
  CHECK(status_of([](AttentionInputs& in) { in.key.pages.first = 1; }) == StatusCode::option);
  CHECK(status_of([](AttentionInputs& in) { in.query.dtype = DType::i8_keys; }) == StatusCode::option);
  CHECK(status_of([](AttentionInputs& in) { in.key.dtype = DType::i8_values; }) == StatusCode::option);
  CHECK(status_of([](AttentionInputs& in) { in.value.dtype = DType::i8_keys; }) == StatusCode::option);
  CHECK(status_of([](AttentionInputs& in) { in.key.dtype = DType::f16; }) == StatusCode::option);
  CHECK(status_of([](AttentionInputs& in) { in.value.dtype = DType::f32; }) == StatusCode::option);
  CHECK(status_of([](AttentionInputs& in) { in.key.strides[2] += 1; }) == StatusCode::option);
  CHECK(status_of([](AttentionInputs& in) { in.value.strides[2] -= 16; }) == StatusCode::option);
  CHECK(status_of([](AttentionInputs& in) {
          in.key.pages = in.value.pages = {};
          in.key.data = in.value.data = in.query.data;
        }) == StatusCode::option);
}

}  // namespace heed::testing
