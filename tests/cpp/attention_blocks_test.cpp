// Block masks: kept blocks give what they give without one, and empty blocks reach no result, whatever they hold.
#include <catch_amalgamated.hpp>
#include <vector>

#include "attention_check.hpp"
#include "problem/attention_problem.hpp"

namespace heed::testing {
namespace {

Status check(const SparseBlocks& blocks) {
  static float somewhere = 0.0F;
  AttentionProblem problem{};
  return make_attention_problem({.query = bhnd_view<const float>(&somewhere, {2, 4, 30, 8}),
                                 .key = bhnd_view<const float>(&somewhere, {2, 2, 50, 8}),
                                 .value = bhnd_view<const float>(&somewhere, {2, 2, 50, 6}),
                                 .mask = {},
                                 .bias = {}},
                                {.blocks = blocks}, {}, problem);
}

}  // namespace

TEST_CASE("blocks of any size leave the keys that they keep, beside every other option and result") {
  Random random(71);
  for (int n = 0; n < 60; ++n) {
    AttentionCase one = random_sizes(random);
    add_random_options(random, one);
    if (random.chance(0.4)) choose_normalizer(random, one);
    one.blocks = random_blocks(random);
    check_all_results(random, one);
  }
}

TEST_CASE("every other block is left out, beside every result, of rows that agree on it and of rows that do not") {
  Random random(75);
  for (const Index queries : {1, 16}) {
    for (const Index size : {5, 16, 17, 20, 32, 48, 100}) {
      for (const Normalizer normalizer : {Normalizer::softmax, Normalizer::sparsemax}) {
        AttentionCase one{.queries = 33,
                          .keys = 215,
                          .normalizer = normalizer,
                          .blocks = BlockCase{.queries = queries, .keys = size}};
        AttentionTensors tensors = make_tensors(random, one);
        const Shape& shape = tensors.options.blocks.keep.shape;
        for_each_element(
            shape, [&](Index b, Index h, Index i, Index j) { tensors.keep(b, h, i, j) = (i + j) % 2 == 0 ? 0 : 1; });
        INFO(describe(one));
        check_all_results(tensors);
      }
    }
  }
}

TEST_CASE("keys and values of blocks that are not kept may be NaN") {
  Random random(72);
  for (const Index queries : {2, 40}) {
    for (const Index size : {4, 32, 128}) {
      AttentionCase one{.queries = queries, .keys = 300, .blocks = BlockCase{.queries = 16, .keys = size}};
      AttentionTensors tensors = make_tensors(random, one);
      for (Index j = 0; j < one.keys; ++j) {
        bool is_kept = false;
        for (Index i = 0; i < queries; ++i) is_kept |= tensors.keep(0, 0, i / 16, j / size) != 0;
        for (Index d = 0; d < 8 && !is_kept; ++d) tensors.key(0, 0, j, d) = tensors.value(0, 0, j, d) = kNan;
      }
      INFO(describe(one));
      const Results results = run(tensors.inputs(), tensors.options);
      for (Index i = 0; i < queries; ++i) {
        for (Index d = 0; d < 8; ++d) CHECK(std::isfinite(results.output(0, 0, i, d)));
      }
    }
  }
}

TEST_CASE("blocks that are all kept change no more than the order of sums, and none at all gives zeros") {
  Random random(73);
  AttentionCase one{.heads = 2, .kv_heads = 1, .queries = 50, .keys = 190, .blocks = BlockCase{.kept = 1.0}};
  check_case(random, one);
  one.blocks->kept = 0.0;
  const AttentionTensors tensors = make_tensors(random, one);
  const Results results = run(tensors.inputs(), tensors.options);
  for_each_element(one.output_shape(),
                   [&](Index b, Index h, Index i, Index e) { CHECK(results.output(b, h, i, e) == 0.0F); });
  for_each_element({1, 2, 50, 1},
                   [&](Index b, Index h, Index i, Index) { CHECK(results.log_sum_exp(b, h, i, 0) == -kInfinity); });
}

TEST_CASE("blocks that do not broadcast, or are of no size, are refused") {
  const std::uint8_t bytes[64] = {};
  const auto view = [&bytes](const Shape& shape) { return bhnd_view<const std::uint8_t>(bytes, shape); };
  CHECK(check({.keep = view({2, 4, 2, 4}), .queries = 16, .keys = 16}).is_ok());
  CHECK(check({.keep = view({1, 1, 2, 1}), .queries = 16, .keys = 16}).is_ok());
  for (const Shape& shape : {Shape{2, 4, 3, 4}, Shape{2, 4, 2, 3}, Shape{1, 2, 2, 4}, Shape{3, 1, 2, 4}}) {
    const Status status = check({.keep = view(shape), .queries = 16, .keys = 16});
    CHECK(status.code() == StatusCode::shape);
    CHECK_THAT(std::string(status.message()),
               Catch::Matchers::ContainsSubstring("blocks.keep must broadcast to [2, 4, 2, 4], got"));
  }
  for (const SparseBlocks& blocks :
       {SparseBlocks{view({1, 1, 2, 4}), 0, 16}, SparseBlocks{view({1, 1, 2, 4}), 16, -1}}) {
    CHECK(check(blocks).code() == StatusCode::option);
    CHECK_THAT(std::string(check(blocks).message()),
               Catch::Matchers::ContainsSubstring("blocks.size must be two whole numbers"));
  }
}

}  // namespace heed::testing
