// Options that are refused, each with its code and the rule that it broke.
#include <catch_amalgamated.hpp>
#include <vector>

#include "problem/attention_problem.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

float somewhere = 0.0F;

/// Two batch entries, four heads, 3 queries, 5 keys.
Status check(const AttentionOptions& options, const AttentionOutputs& outputs = {}) {
  AttentionProblem problem{};
  return make_attention_problem({.query = bhnd_view<const float>(&somewhere, {2, 4, 3, 8}),
                                 .key = bhnd_view<const float>(&somewhere, {2, 2, 5, 8}),
                                 .value = bhnd_view<const float>(&somewhere, {2, 2, 5, 6}),
                                 .mask = {},
                                 .bias = {}},
                                options, outputs, problem);
}

void check_refused(const AttentionOptions& options, const std::string& rule) {
  const Status status = check(options);
  CHECK(status.code() == StatusCode::option);
  CHECK_THAT(std::string(status.message()), Catch::Matchers::StartsWith("attention: "));
  CHECK_THAT(std::string(status.message()), Catch::Matchers::ContainsSubstring(rule));
}

}  // namespace

TEST_CASE("a softcap that is not between 1e-30 and 1e30 is refused") {
  for (const float softcap : {-1.0F, 1e-39F, 3e38F, kNan, kInfinity, -kInfinity}) {
    check_refused({{.softcap = softcap}}, "softcap must be between 1e-30 and 1e30");
  }
  for (const float softcap : {1e-30F, 0.5F, 50.0F, 1e30F}) CHECK(check({{.softcap = softcap}}).is_ok());
}

TEST_CASE("a window with a negative side is refused") {
  check_refused({{}, {.window = {.left = -2}}}, "window must be");
  check_refused({{}, {.window = {.right = -2}}}, "window must be");
  check_refused({{}, {.window = {.left = 5, .right = std::numeric_limits<std::int32_t>::min()}}}, "window must be");
  CHECK(check({{}, {.window = {.left = 0, .right = 0}}}).is_ok());
  CHECK(check({{}, {.window = {.left = 1000}}}).is_ok());
}

TEST_CASE("lengths below zero or beyond the tensor are refused in any batch entry") {
  for (const std::vector<std::int32_t>& lengths :
       {std::vector{-1, 0}, std::vector{0, -1}, std::vector{4, 0}, std::vector{3, 4},
        std::vector{0, std::numeric_limits<std::int32_t>::max()}}) {
    check_refused({{}, {.query_lengths = lengths.data()}}, "qLengths must be between 0 and 3, got ");
  }
  for (const std::vector<std::int32_t>& lengths :
       {std::vector{-1, 0}, std::vector{0, -1}, std::vector{6, 0}, std::vector{5, 6}}) {
    check_refused({{}, {.key_lengths = lengths.data()}}, "kvLengths must be between 0 and 5, got ");
  }
  const std::int32_t queries[] = {3, 0};
  const std::int32_t keys[] = {0, 5};
  CHECK(check({{}, {.query_lengths = queries, .key_lengths = keys}}).is_ok());
}

TEST_CASE("a length that is refused is named with its batch entry") {
  const std::int32_t lengths[] = {5, 6};
  CHECK(check({{}, {.key_lengths = lengths}}).message() ==
        "attention: kvLengths must be between 0 and 5, got 6 for batch entry 1");
}

TEST_CASE("offsets of any size are taken") {
  const std::int32_t offsets[] = {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
  CHECK(check({{}, {.causal = Causal::lower_right, .query_offsets = offsets}}).is_ok());
}

TEST_CASE("packed sequences that do not lie one after the other over the whole length are refused") {
  struct Refused {
    std::vector<std::int32_t> queries, keys;
    const char* rule;
  };
  const AttentionInputs inputs = {.query = bhnd_view<const float>(&somewhere, {1, 4, 3, 8}),
                                  .key = bhnd_view<const float>(&somewhere, {1, 2, 5, 8}),
                                  .value = bhnd_view<const float>(&somewhere, {1, 2, 5, 6}),
                                  .mask = {},
                                  .bias = {}};
  AttentionProblem problem{};
  const auto check_packed = [&](const std::vector<std::int32_t>& queries, const std::vector<std::int32_t>& keys) {
    AttentionOptions options;
    const auto count = static_cast<std::int32_t>(queries.size()) - 1;
    options.sequences = {queries.data(), keys.empty() ? nullptr : keys.data(), count};
    return make_attention_problem(inputs, options, {}, problem);
  };
  for (const auto& [queries, keys, rule] :
       {Refused{{1, 3}, {0, 5}, "cuSeqlensQ must start at 0, got 1"},
        Refused{{0, 2}, {0, 5}, "cuSeqlensQ must end at 3, the whole length, got 2"},
        Refused{{0, 4}, {0, 5}, "cuSeqlensQ must end at 3, the whole length, got 4"},
        Refused{{0, 2, 1, 3}, {0, 1, 2, 5}, "cuSeqlensQ must not decrease, got 2 and then 1"},
        Refused{{0, -1, 3}, {0, 1, 5}, "cuSeqlensQ must not decrease, got 0 and then -1"},
        Refused{{0, 3}, {2, 5}, "cuSeqlensK must start at 0, got 2"},
        Refused{{0, 3}, {0, 4}, "cuSeqlensK must end at 5, the whole length, got 4"},
        Refused{{0, 1, 3}, {0, 6, 5}, "cuSeqlensK must not decrease, got 6 and then 5"},
        Refused{{0, 3}, {}, "must end at 5"}}) {
    const Status status = check_packed(queries, keys);
    CHECK(status.code() == StatusCode::option);
    CHECK_THAT(std::string(status.message()), Catch::Matchers::ContainsSubstring(rule));
  }
  CHECK(check_packed({0, 3}, {0, 5}).is_ok());
  CHECK(check_packed({0, 0, 1, 1, 3, 3}, {0, 1, 1, 5, 5, 5}).is_ok());
}

TEST_CASE("packed sequences are refused without queries' own, with lengths, and for a batch") {
  const std::int32_t queries[] = {0, 3};
  const std::int32_t keys[] = {0, 5};
  check_refused({{}, {.sequences = {.key_starts = keys, .count = 1}}}, "cuSeqlensK needs cuSeqlensQ");
  check_refused({{}, {.sequences = {queries, keys, 1}}}, "cuSeqlensQ needs a batch of one, got 2");
  const AttentionInputs inputs = {.query = bhnd_view<const float>(&somewhere, {1, 4, 3, 8}),
                                  .key = bhnd_view<const float>(&somewhere, {1, 2, 5, 8}),
                                  .value = bhnd_view<const float>(&somewhere, {1, 2, 5, 6}),
                                  .mask = {},
                                  .bias = {}};
  for (const auto member : {&AttentionOptions::query_lengths, &AttentionOptions::key_lengths}) {
    AttentionOptions options;
    options.sequences = {queries, keys, 1};
    options.*member = queries + 1;
    AttentionProblem problem{};
    const Status status = make_attention_problem(inputs, options, {}, problem);
    CHECK(status.code() == StatusCode::option);
    CHECK_THAT(std::string(status.message()), Catch::Matchers::ContainsSubstring("exclude each other"));
  }
}

TEST_CASE("slopes that are not between -1e30 and 1e30 are refused for any head") {
  for (const std::size_t head : {0U, 3U}) {
    for (const float bad : {kNan, kInfinity, -kInfinity}) {
      std::vector<float> slopes(4, 0.5F);
      slopes[head] = bad;
      check_refused({{.alibi_slopes = slopes.data()}}, "alibiSlopes must be between -1e30 and 1e30");
    }
  }
}

TEST_CASE("sinks that are NaN or above 1e30 are refused for any head, those of -infinity are not") {
  for (const std::size_t head : {0U, 3U}) {
    for (const float bad : {kNan, kInfinity, 3e38F}) {
      std::vector<float> sinks(4, 0.5F);
      sinks[head] = bad;
      check_refused({{}, {}, {.sinks = sinks.data()}}, "sinks must be at most 1e30");
    }
  }
  const float none[] = {-kInfinity, 0.0F, -kInfinity, 1e30F};
  CHECK(check({{}, {}, {.sinks = none}}).is_ok());
}

TEST_CASE("a dropout that is no probability is refused") {
  for (const float p : {-0.1F, 1.1F, kNan, kInfinity, -kInfinity}) {
    check_refused({{}, {}, {.dropout = {.p = p, .seed = 1}}}, "dropout.p must be between 0 and 1");
  }
  for (const float p : {0.0F, -0.0F, 0.5F, 1.0F}) CHECK(check({{}, {}, {.dropout = {.p = p, .seed = 1}}}).is_ok());
}

TEST_CASE("rows of weights that are none of the queries are refused, and weights of other rows than those") {
  const auto check_rows = [](Index begin, Index end, Index rows) {
    AttentionOutputs outputs{.weights = bhnd_view(&somewhere, {2, 4, rows, 5})};
    outputs.weight_rows = {begin, end};
    return check({}, outputs);
  };
  CHECK(check_rows(0, 3, 3).is_ok());
  CHECK(check_rows(2, 3, 1).is_ok());
  for (const auto& [begin, end] : {QueryRange{-1, 2}, QueryRange{1, 1}, QueryRange{2, 1}, QueryRange{2, 4}}) {
    const Status status = check_rows(begin, end, end - begin);
    CHECK(status.code() == StatusCode::option);
    CHECK_THAT(std::string(status.message()), Catch::Matchers::ContainsSubstring("the rows of weights must be"));
  }
  CHECK(check_rows(1, 3, 3).message() == "attention: weights must be [2, 4, 2, 5], got [2, 4, 3, 5]");
  AttentionOutputs mean{.mean_weights = bhnd_view(&somewhere, {2, 4, 3, 5})};
  CHECK(check({}, mean).message() == "attention: mean weights must be [2, 1, 3, 5], got [2, 4, 3, 5]");
  mean.mean_weights = bhnd_view(&somewhere, {2, 1, 3, 5});
  CHECK(check({}, mean).is_ok());
}

TEST_CASE("scores and entropy of another shape than their own are refused") {
  CHECK(check({}, {.scores = bhnd_view(&somewhere, {2, 4, 3, 5})}).is_ok());
  CHECK(check({}, {.entropy = bhnd_view(&somewhere, {2, 4, 3, 1})}).is_ok());
  CHECK(check({}, {.scores = bhnd_view(&somewhere, {2, 4, 3, 6})}).code() == StatusCode::shape);
  CHECK(check({}, {.scores = bhnd_view(&somewhere, {2, 2, 3, 5})}).code() == StatusCode::shape);
  CHECK(check({}, {.entropy = bhnd_view(&somewhere, {2, 4, 1, 3})}).code() == StatusCode::shape);
  AttentionOutputs strided{.scores = bhnd_view(&somewhere, {2, 4, 3, 5})};
  strided.scores.strides[3] = 2;
  CHECK(check({}, strided).message() == "attention: scores must be contiguous along its last axis, got stride 2");
}

}  // namespace heed::testing
