// The same bits however the work is split.
#include <catch_amalgamated.hpp>

#include "attention_check.hpp"

namespace heed::testing {
namespace {

std::vector<AttentionCase> split_cases() {
  return {
      {.heads = 2, .queries = 257, .keys = 111, .head_dim = 33, .value_dim = 17},
      {.batch = 2, .heads = 6, .kv_heads = 2, .queries = 50, .keys = 97, .causal = Causal::lower_right},
      {.heads = 3,
       .kv_heads = 1,
       .queries = 65,
       .keys = 200,
       .mask = Shape{1, 3, 65, 200},
       .bias = Shape{1, 1, 1, 200}},
      {.queries = 300, .keys = 130, .head_dim = 64, .value_dim = 64, .causal = Causal::upper_left},
      {.queries = 1, .keys = 1000, .head_dim = 64, .value_dim = 64},
  };
}

/// Every option at once, with and without an alignment.
std::vector<AttentionCase> option_cases() {
  std::vector<AttentionCase> cases;
  for (const Causal causal : {Causal::none, Causal::lower_right}) {
    AttentionCase one = {.batch = 2, .heads = 6, .kv_heads = 2, .queries = 70, .keys = 207, .causal = causal};
    one.mask = Shape{2, 1, 70, 207};
    one.bias = Shape{1, 6, 1, 207};
    one.softcap = 2.0F;
    one.dropout = Dropout{.p = 0.3F, .seed = 5};
    one.window = {.left = 100, .right = 20};
    one.has_query_lengths = one.has_key_lengths = one.has_alibi = one.has_sinks = true;
    cases.push_back(one);
    one.has_query_offsets = true;
    cases.push_back(one);
    one.batch = 1;
    one.mask = one.bias = std::nullopt;
    one.has_query_lengths = one.has_key_lengths = false;
    one.sequences = 5;
    cases.push_back(one);
  }
  return cases;
}

}  // namespace

TEST_CASE("any number of workers and any order of tasks give the same bits") {
  Random random(120);
  for (const AttentionCase& one : split_cases()) {
    INFO(describe(one));
    check_workers(make_tensors(random, one), {1, 2, 3, 8, 64});
  }
}

TEST_CASE("with every option on, any number of workers and any order of tasks give the same bits") {
  Random random(123);
  for (const AttentionCase& one : option_cases()) {
    const AttentionTensors tensors = make_tensors(random, one);
    INFO(describe(one));
    check_workers(tensors, {2, 64}, {.weights = false});
    check_workers(tensors, {2, 64}, {.scores = ScoreStage::capped});
  }
}

// Groups that decode computes are an exception.
TEST_CASE("some queries give the same bits as among others") {
  Random random(121);
  int compared = 0;
  for (const AttentionCase& one : split_cases()) {
    if (one.causal == Causal::lower_right) continue;  // its offset depends on the number of queries
    const AttentionTensors tensors = make_tensors(random, one);
    const AttentionInputs all = tensors.inputs();
    const Results together = run(all, tensors.options);
    const Index some = kernels::kShortRows + 1;
    for (const Index first : {Index{0}, one.queries / 2, one.queries - some}) {
      if (first < 0 || first + some > one.queries) continue;
      if (one.causal == Causal::upper_left && first != 0) continue;
      AttentionInputs alone = all;
      alone.query.data = all.query.at(0, 0, first);
      alone.query.shape[2] = some;
      if (all.mask.is_present() && all.mask.shape[2] > 1) {
        alone.mask.data = all.mask.at(0, 0, first);
        alone.mask.shape[2] = some;
      }
      const Results single = run(alone, tensors.options);
      INFO(describe(one) << ", from query " << first);
      for_each_element(single.output.view.shape, [&](Index b, Index h, Index i, Index e) {
        CHECK(single.output(b, h, i, e) == together.output(b, h, first + i, e));
      });
      for_each_element(single.log_sum_exp.view.shape, [&](Index b, Index h, Index i, Index) {
        CHECK(single.log_sum_exp(b, h, i, 0) == together.log_sum_exp(b, h, first + i, 0));
      });
      ++compared;
    }
  }
  CHECK(compared > 0);
}

TEST_CASE("heads that share keys give the same bits as heads with keys of their own") {
  Random random(122);
  AttentionTensors shared = make_tensors(random, {.heads = 4, .kv_heads = 1, .queries = 37, .keys = 50});
  AttentionInputs separate = shared.inputs();
  for (FloatView* view : {&separate.key, &separate.value}) {
    view->shape[1] = 4;
    view->strides[1] = 0;
  }
  CHECK(run(shared.inputs(), {}).bits() == run(separate, {}).bits());
}

}  // namespace heed::testing
