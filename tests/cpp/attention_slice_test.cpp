// A call computed in slices, each a call of its own, gives the bits of the whole.
#include <array>
#include <bit>
#include <catch_amalgamated.hpp>
#include <string>
#include <vector>

#include "attention_check.hpp"
#include "problem/attention_problem.hpp"

namespace heed::testing {
namespace {

constexpr int kCases = 60;

struct Range {
  Index begin, end;
  [[nodiscard]] Index size() const { return end - begin; }
};

struct Slice {
  Range batch, groups, queries;
};

/// Cuts [0, count) into at most `most` ranges of random lengths.
std::vector<Range> cut(Random& random, Index count, Index most) {
  std::vector<Range> ranges;
  for (Index begin = 0; begin < count;) {
    const bool is_last = static_cast<Index>(ranges.size()) + 1 == most;
    const Index end = is_last ? count : begin + 1 + random.below(count - begin);
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

/// The rows of a decode task share their reads of the keys, and stay together.
std::vector<Slice> cut_in_slices(Random& random, const AttentionCase& one, bool keeps_heads, int short_rows) {
  // Heads whose keys differ by the score's parameters are decode tasks of their own.
  const bool keeps_queries = one.queries <= short_rows || one.heads / one.kv_heads * one.queries <= short_rows;
  std::vector<Slice> slices;
  for (const Range& batch : cut(random, one.batch, 2)) {
    for (const Range& groups : cut(random, one.kv_heads, keeps_heads ? 1 : 2)) {
      for (const Range& queries : cut(random, one.queries, keeps_queries ? 1 : 4))
        slices.push_back({batch, groups, queries});
    }
  }
  return slices;
}

/// Axes of size 1 stay, which is how masks and biases broadcast.
template <typename View>
View narrow(View view, const Range& batch, const Range& heads, const Range& rows) {
  if (!view.is_present()) return view;
  const std::array<Range, 3> ranges{batch, heads, rows};
  std::array<Index, 3> first{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (view.shape[axis] == 1) continue;
    first[axis] = ranges[axis].begin;
    view.shape[axis] = ranges[axis].size();
  }
  view.data = view.at(first[0], first[1], first[2]);
  return view;
}

AttentionInputs narrow(const AttentionInputs& in, const Slice& slice, const Range& heads) {
  const Range keys{0, in.key.shape[2]};
  return {.query = narrow(in.query, slice.batch, heads, slice.queries),
          .key = narrow(in.key, slice.batch, slice.groups, keys),
          .value = narrow(in.value, slice.batch, slice.groups, keys),
          .mask = narrow(in.mask, slice.batch, heads, slice.queries),
          .bias = narrow(in.bias, slice.batch, heads, slice.queries)};
}

AttentionOutputs narrow(const AttentionOutputs& out, const Slice& slice, const Range& heads) {
  AttentionOutputs part = out;
  for (TensorView<float> AttentionOutputs::* view :
       {&AttentionOutputs::output, &AttentionOutputs::weights, &AttentionOutputs::log_sum_exp,
        &AttentionOutputs::scores, &AttentionOutputs::entropy}) {
    part.*view = narrow(out.*view, slice.batch, heads, slice.queries);
  }
  part.mean_weights = narrow(out.mean_weights, slice.batch, {0, 1}, slice.queries);
  return part;
}

AttentionCase random_case(Random& random) {
  const Index group = random.pick(std::vector<Index>{1, 1, 2, 3});
  const Index groups = 1 + random.below(3);
  AttentionCase one{.batch = 1 + random.below(3),
                    .heads = groups * group,
                    .kv_heads = groups,
                    .queries = random.pick(std::vector<Index>{1, 2, 5, 16, 33, 130}),
                    .keys = random.pick(std::vector<Index>{1, 8, 97, 200, 600}),
                    .head_dim = random.pick(std::vector<Index>{8, 33, 64}),
                    .value_dim = random.pick(std::vector<Index>{1, 10, 64}),
                    .layout = static_cast<Layout>(random.below(4))};
  add_random_options(random, one);
  if (random.chance(0.5)) one.score = random_score(random);
  if (random.chance(0.5)) choose_normalizer(random, one);
  if (random.chance(0.3)) one.blocks = random_blocks(random);
  if (random.chance(0.3)) one.score_mod = 3;
  if (random.chance(0.3)) one.mask_mod = 5;
  if (random.chance(0.3)) one.weight_mod = 3;
  if (one.batch == 1 && random.chance(0.4)) {
    one.sequences = 1 + random.below(4);
    one.has_query_lengths = one.has_key_lengths = false;
  }
  return one;
}

/// Results and, where it is wanted, the mean of the weights.
struct Everything {
  Results results;
  Owned<float> mean;
  bool wants_mean;

  Everything(const AttentionInputs& in, const Wanted& wanted, bool mean_too)
      : results(in, wanted),
        mean(allocate({in.query.shape[0], 1, in.query.shape[2], in.key.shape[2]}, Layout::bhnd, kUntouched)),
        wants_mean(mean_too) {}

  [[nodiscard]] AttentionOutputs outputs() const {
    AttentionOutputs outputs = results.outputs();
    if (wants_mean) outputs.mean_weights = mean.view;
    return outputs;
  }

  [[nodiscard]] std::vector<std::uint32_t> bits() const {
    std::vector<std::uint32_t> all = results.bits();
    for (const float number : mean.numbers) all.push_back(std::bit_cast<std::uint32_t>(number));
    return all;
  }
};

void attend(const AttentionInputs& inputs, const AttentionOptions& options, const AttentionOutputs& outputs) {
  const Status status = attention(inputs, options, outputs, calling_thread());
  INFO(status.message());
  REQUIRE(status.is_ok());
}

}  // namespace

TEST_CASE("slices along batch, heads and queries give the bits of the whole, with every option") {
  Random random(125);
  for (int n = 0; n < kCases; ++n) {
    const AttentionCase one = random_case(random);
    const AttentionTensors tensors = make_tensors(random, one);
    const AttentionInputs inputs = tensors.inputs();
    const bool wants_mean = random.chance(0.4);
    const Wanted wanted = fitting({.weights = random.chance(0.5), .entropy = random.chance(0.5)}, tensors.options);
    const std::vector<Slice> slices = cut_in_slices(random, one, wants_mean, kernels::kShortRows);
    const Everything whole(inputs, wanted, wants_mean);
    attend(inputs, tensors.options, whole.outputs());
    const Everything sliced(inputs, wanted, wants_mean);
    for (const Slice& slice : slices) {
      const Index group = one.heads / one.kv_heads;
      const Range heads{slice.groups.begin * group, slice.groups.end * group};
      AttentionOptions options = tensors.options;
      options.slice_of = SliceOf{.first_batch = slice.batch.begin,
                                 .first_head = heads.begin,
                                 .first_query = slice.queries.begin,
                                 .batch = one.batch,
                                 .query_heads = one.heads,
                                 .query_length = one.queries};
      attend(narrow(inputs, slice, heads), options, narrow(sliced.outputs(), slice, heads));
    }
    INFO(describe(one) << ", " << slices.size() << " slices");
    CHECK(sliced.bits() == whole.bits());
  }
}

TEST_CASE("one head of an entry gives the bits that it has among others, with so many keys that they share splits") {
  Random random(126);
  const AttentionCase one{
      .batch = 2, .heads = 8, .kv_heads = 8, .queries = 1, .keys = 2048, .head_dim = 64, .value_dim = 64};
  const AttentionTensors tensors = make_tensors(random, one);
  const AttentionInputs inputs = tensors.inputs();
  const Everything whole(inputs, {}, false);
  attend(inputs, tensors.options, whole.outputs());
  const Everything sliced(inputs, {}, false);
  for (Index batch = 0; batch < one.batch; ++batch) {
    for (Index head = 0; head < one.heads; ++head) {
      const Slice slice{.batch = {batch, batch + 1}, .groups = {head, head + 1}, .queries = {0, 1}};
      AttentionOptions options = tensors.options;
      options.slice_of = SliceOf{.first_batch = batch,
                                 .first_head = head,
                                 .first_query = 0,
                                 .batch = one.batch,
                                 .query_heads = one.heads,
                                 .query_length = 1};
      attend(narrow(inputs, slice, slice.groups), options, narrow(sliced.outputs(), slice, slice.groups));
    }
  }
  CHECK(sliced.bits() == whole.bits());
}

TEST_CASE("a slice with some of few queries is refused: they share what they read") {
  Random random(126);
  const AttentionCase one{.heads = 2, .queries = 2, .keys = 20};
  const AttentionTensors tensors = make_tensors(random, one);
  const Results results(tensors.inputs());
  AttentionOptions options;
  options.slice_of =
      SliceOf{.first_batch = 0, .first_head = 0, .first_query = 1, .batch = 1, .query_heads = 2, .query_length = 2};
  const Slice slice{{0, 1}, {0, 2}, {1, 2}};
  const Range heads{0, 2};
  const Status status = attention(narrow(tensors.inputs(), slice, heads), options,
                                  narrow(results.outputs(), slice, heads), calling_thread());
  CHECK(status.code() == StatusCode::option);
  CHECK(status.message() == "attention: a slice of so few queries must hold all 2, got 1");
}

TEST_CASE("what is no slice of its whole is refused") {
  float number = 0.0F;
  const AttentionInputs inputs{.query = bhnd_view<const float>(&number, {2, 4, 3, 8}),
                               .key = bhnd_view<const float>(&number, {2, 2, 5, 8}),
                               .value = bhnd_view<const float>(&number, {2, 2, 5, 6}),
                               .mask = {},
                               .bias = {}};
  const auto refuse = [&](const SliceOf& whole, const AttentionOutputs& outputs, const std::string& rule) {
    AttentionOptions options;
    options.slice_of = whole;
    AttentionProblem problem{};
    const Status status = make_attention_problem(inputs, options, outputs, problem);
    CHECK(status.code() == StatusCode::option);
    CHECK_THAT(std::string(status.message()), Catch::Matchers::ContainsSubstring(rule));
  };
  const SliceOf good{
      .first_batch = 1, .first_head = 2, .first_query = 3, .batch = 3, .query_heads = 6, .query_length = 6};
  for (Index SliceOf::* first : {&SliceOf::first_batch, &SliceOf::first_head, &SliceOf::first_query}) {
    for (const Index wrong : {Index{-2}, Index{4}}) {
      SliceOf bad = good;
      bad.*first = wrong;
      if (first != &SliceOf::first_head || wrong < 0 || wrong > 2) refuse(bad, {}, "must lie within its whole");
    }
  }
  SliceOf halved = good;
  halved.first_head = 1;
  refuse(halved, {}, "must hold all 2 query heads of its keys");
  AttentionOutputs mean;
  mean.mean_weights = bhnd_view(&number, {2, 1, 3, 5});
  refuse(good, mean, "must hold all 6 heads");
}

}  // namespace heed::testing
