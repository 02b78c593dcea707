// Decode: one query, or a few that share their keys, computed by split-KV.
#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>

#include "attention_check.hpp"
#include "plan/attention_plan.hpp"

namespace heed::testing {
namespace {

// Several KV splits, and so few rows that every architecture takes the decode kernel.
const AttentionCase kCase = {
    .batch = 2, .heads = 4, .kv_heads = 2, .queries = 1, .keys = 1300, .head_dim = 64, .value_dim = 64};

}  // namespace

TEST_CASE("a single query is within the error model around lanes, blocks and splits") {
  Random random(301);
  for (const Index keys : {0, 1, 3, 4, 5, 8, 15, 16, 17, 31, 33, 127, 128, 129, 511, 512, 513, 1025, 1800}) {
    check_tensors(make_tensors(random, {.heads = 2, .queries = 1, .keys = keys, .head_dim = 64, .value_dim = 64}));
  }
}

TEST_CASE("a query alone is within the error model around vectors of its dimensions") {
  Random random(302);
  for (const Index dim : {1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 130, 512}) {
    check_tensors(make_tensors(random, {.queries = 2, .keys = 40, .head_dim = dim, .value_dim = 8}));
    check_tensors(make_tensors(random, {.queries = 2, .keys = 40, .head_dim = 8, .value_dim = dim}));
  }
}

TEST_CASE("decode with random options stays within the error model, scores and entropy too") {
  Random random(303);
  for (int n = 0; n < 150; ++n) {
    AttentionCase one = {.batch = 1 + random.below(2), .queries = 1 + random.below(3)};
    one.kv_heads = 1 + random.below(2);
    one.heads = one.kv_heads * (1 + random.below(2));
    one.keys = 1 + random.below(random.chance(0.3) ? 1200 : 150);
    one.head_dim = 1 + random.below(40);
    one.value_dim = 1 + random.below(40);
    one.layout = random.chance(0.5) ? Layout::bnhd : Layout::bhnd;
    add_random_options(random, one);
    check_all_results(random, one);
  }
}

TEST_CASE("a cache as of a language model, its heads grouped, is within the error model") {
  Random random(304);
  AttentionCase one = {.batch = 2,
                       .heads = 8,
                       .kv_heads = 2,
                       .queries = 1,
                       .keys = 700,
                       .head_dim = 128,
                       .value_dim = 128,
                       .layout = Layout::bnhd};
  one.causal = Causal::lower_right;
  one.has_key_lengths = true;
  check_all_results(make_tensors(random, one));
}

TEST_CASE("splits give the same bits in any order and on any number of workers") {
  Random random(305);
  for (const bool is_masked : {false, true}) {
    AttentionCase one = kCase;
    if (is_masked) one.mask = Shape{2, 1, 1, one.keys};
    check_workers(make_tensors(random, one), {2, 5, 64});
  }
}

TEST_CASE("nothing in a masked key or value reaches a query alone") {
  Random random(306);
  AttentionCase one = kCase;
  one.mask = Shape{1, 1, 1, one.keys};
  AttentionTensors tensors = make_tensors(random, one);
  // A whole part as well.
  for (Index j = 512; j < 1024; ++j) tensors.mask(0, 0, 0, j) = 0;
  const auto clean = run(tensors.inputs(), tensors.options).bits();
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    for (Index j = 0; j < one.keys; ++j) {
      if (tensors.mask(0, 0, 0, j) != 0) continue;
      tensors.key(1, 1, j, 5) = bad;
      tensors.value(0, 0, j, 9) = bad;
    }
    INFO(", " << bad);
    CHECK(run(tensors.inputs(), tensors.options).bits() == clean);
  }
}

TEST_CASE("a NaN in a key reaches exactly the heads that read it, whatever its lane and split") {
  Random random(307);
  for (const Index j : {0, 1, 6, 1023, 1024, 1299}) {
    AttentionTensors tensors = make_tensors(random, kCase);
    const Results clean = run(tensors.inputs(), tensors.options);
    tensors.key(1, 0, j, 17) = kNan;
    const Results results = run(tensors.inputs(), tensors.options);
    INFO(", key " << j);
    for_each_element(results.output.view.shape, [&](Index b, Index h, Index i, Index e) {
      const float got = results.output(b, h, i, e);
      CHECK((b == 1 && h < 2 ? std::isnan(got) : got == clean.output(b, h, i, e)));
    });
  }
}

TEST_CASE("a query that sees one key gives exactly its value, in whichever split it is") {
  Random random(308);
  AttentionCase one = kCase;
  one.mask = Shape{1, 1, 1, one.keys};
  AttentionTensors tensors = make_tensors(random, one);
  for (const Index only : {0, 130, 1024, 1299}) {
    for (Index j = 0; j < one.keys; ++j) tensors.mask(0, 0, 0, j) = j == only ? 1 : 0;
    const Results results = run(tensors.inputs(), tensors.options);
    for_each_element(results.output.view.shape, [&](Index b, Index h, Index i, Index e) {
      CHECK(results.output(b, h, i, e) == tensors.value(b, h / 2, only, e));
    });
  }
}

namespace {

constexpr Machine kOneWorker{.panel = 8, .workers = 1, .short_rows = 4};

/// One query of some heads that read the same keys.
AttentionProblem short_problem(Index heads, Index keys, Index dim) {
  AttentionProblem problem{};
  problem.batch = problem.kv_heads = problem.groups = problem.query_length = 1;
  problem.query_heads = heads;
  problem.whole = {
      .first_batch = 0, .first_head = 0, .first_query = 0, .batch = 1, .query_heads = heads, .query_length = 1};
  problem.key_length = keys;
  problem.head_dim = problem.value_dim = dim;
  return problem;
}

}  // namespace

TEST_CASE("splits lie end to end, and depend on sizes alone") {
  for (const Index keys : {0, 1, 1023, 1024, 1025, 100000}) {
    AttentionProblem problem = short_problem(1, keys, 64);
    // 512 KB, and four times as much where eight parts are left.
    const Index part = keys == 100000 ? 4096 : 1024;
    const AttentionPlan plan = plan_attention(problem, kOneWorker);
    CHECK(plan.keys_per_split == part);
    CHECK(plan.splits_per_group == std::max<Index>(1, (keys + part - 1) / part));
    CHECK(plan.task_count == plan.splits_per_group);
    CHECK(plan_attention(problem, {.panel = 8, .workers = 16, .short_rows = 4}).keys_per_split == part);
    CHECK(plan_attention(problem, {.panel = 8, .workers = 1, .short_rows = 0}).splits_per_group == 0);
    CHECK(plan.key_block == part);
    CHECK(plan.stream_keys == part);
    // What a mask takes is passed over in smaller steps.
    const std::uint8_t open = 1;
    problem.inputs.mask = {.data = &open, .shape = {1, 1, 1, 1}, .strides = {}};
    CHECK(plan_attention(problem, kOneWorker).key_block == 128);
    CHECK(plan_attention(problem, kOneWorker).stream_keys == 0);
  }
}

TEST_CASE(
    "rows that see the same keys have the splits of one row; other rows, widened keys and tanh sums have splits of 512 "
    "KB") {
  CHECK(plan_attention(short_problem(4, 100000, 64), kOneWorker).keys_per_split == 4096);
  CHECK(plan_attention(short_problem(4, 100000, 64), kOneWorker).stream_keys == 4096);

  const AttentionProblem plain = short_problem(1, 100000, 64);
  const auto check = [&](auto change) {
    AttentionProblem problem = plain;
    change(problem);
    const AttentionPlan plan = plan_attention(problem, kOneWorker);
    CHECK(plan.keys_per_split == 1024);
    CHECK(plan.key_block == 1024);
    return plan.stream_keys;
  };
  CHECK(check([](AttentionProblem& problem) { problem.options.score.kind = ScoreKind::rbf; }) == 0);
  CHECK(check([](AttentionProblem& problem) { problem.query_length = problem.whole.query_length = 2; }) == 0);
  CHECK(check([](AttentionProblem& problem) {
          problem = short_problem(4, 100000, 64);
          problem.options.normalizer = Normalizer::sigmoid;
        }) == 0);
  CHECK(check([](AttentionProblem& problem) {
          problem = short_problem(4, 100000, 64);
          problem.options.dropout = {.p = 0.5F};
        }) == 0);
  // Each tensor is f16 or not by itself: kernels widen it as they read.
  CHECK(check([](AttentionProblem& problem) { problem.inputs.value.dtype = DType::f16; }) == 1024);
  CHECK(check([](AttentionProblem& problem) { problem.key_dtype = DType::f16; }) == 1024);
}

TEST_CASE("a slice has the splits of its whole") {
  AttentionProblem whole = short_problem(1, 4096, 64);
  whole.batch = whole.whole.batch = 3;
  whole.query_heads = whole.kv_heads = whole.groups = whole.whole.query_heads = 6;
  AttentionProblem slice = whole;
  slice.batch = slice.query_heads = slice.kv_heads = slice.groups = 1;
  const AttentionPlan plan = plan_attention(whole, kOneWorker);
  const AttentionPlan of_slice = plan_attention(slice, kOneWorker);
  // More than the slice alone would have.
  CHECK(plan.keys_per_split == 3072);
  CHECK(of_slice.keys_per_split == plan.keys_per_split);
  CHECK(of_slice.stream_keys == plan.stream_keys);
  // And an entry the same in any batch.
  whole.batch = whole.whole.batch = 1;
  CHECK(plan_attention(whole, kOneWorker).keys_per_split == plan.keys_per_split);
}

TEST_CASE(
    "splits of keys in pages are four pages or two, two or one where scores are tanh sums, and segments of long "
    "pages") {
  struct PagedParts {
    DType dtype;
    Index dim;  // of keys, and of values
    Index rows;
    int plain;
    int bent;
  };
  // Elsewhere a part is 131072 floats, in steps of 128 keys: 1024 keys of 128 floats. Bytes count a quarter: 4096 keys
  // of 128, 1280 of 384. Plain scores have up to four times that.
  const PagedParts expected[] = {{DType::f32, 64, 96, 384, 192},           {DType::f32, 64, 5, 128, 128},
                                 {DType::f32, 64, 4096, 1024, 1024},       {DType::f32, 64, 384, 1536, 768},
                                 {DType::f32, 192, 384, 768, 256},         {DType::f16, 256, 384, 768, 256},
                                 {DType::f32, 256, 512, 1024, 256},        {DType::f32, 256, 768, 768, 256},
                                 {DType::f32, 64, 1024, 2048, 1024},       {DType::f16, 64, 768, 3072, 1024},
                                 {DType::i8_values, 64, 384, 1536, 768},   {DType::i8_values, 64, 768, 3072, 1536},
                                 {DType::i8_values, 64, 1024, 2048, 1024}, {DType::i8_values, 64, 1536, 3072, 1536},
                                 {DType::i8_values, 192, 768, 3072, 1280}, {DType::i8_values, 192, 1536, 3072, 1280}};
  const void* const table[] = {nullptr};
  for (const auto& [dtype, dim, rows, plain, bent] : expected) {
    INFO("dtype " << static_cast<int>(dtype) << ", " << dim << " dimensions, pages of " << rows);
    for (const ScoreKind score : {ScoreKind::scaled_dot, ScoreKind::rbf}) {
      AttentionProblem problem = short_problem(4, 32768, dim);
      problem.options.score.kind = score;
      problem.inputs.value.dtype = dtype;
      problem.inputs.value.pages = {.table = table, .per_batch = 1, .rows = rows};
      const AttentionPlan plan = plan_attention(problem, kOneWorker);
      CHECK(plan.keys_per_split == (score == ScoreKind::rbf ? bent : plain));
      // Scratch memory is for a block.
      CHECK((plan.stream_keys == 0 || plan.key_block == plan.keys_per_split));
      CHECK(plan.stream_keys == (score != ScoreKind::rbf && rows < 4096 ? rows : 0));
    }
  }
}

TEST_CASE("there are as many splits of pages as workers need, where few KV heads have few keys") {
  const void* const table[] = {nullptr};
  const auto parts_of = [&](Index groups, Index keys) {
    AttentionProblem problem = short_problem(4 * groups, keys, 64);
    problem.kv_heads = problem.groups = groups;
    problem.inputs.value.pages = {.table = table, .per_batch = 1, .rows = 384};
    return plan_attention(problem, kOneWorker).splits_per_group;
  };
  // Two pages a part, and four.
  CHECK(parts_of(1, 4096) == 6);
  CHECK(parts_of(2, 4096) == 6);
  CHECK(parts_of(4, 4096) == 3);
  CHECK(parts_of(8, 4096) == 3);
  CHECK(parts_of(1, 32768) == 22);
}

}  // namespace heed::testing
