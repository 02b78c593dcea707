// Parameters of score functions that are refused, each with its code and the rule that it broke.
#include <catch_amalgamated.hpp>

#include "problem/attention_problem.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

float somewhere = 1.0F;

TensorView<const float> view(const Shape& shape) { return bhnd_view<const float>(&somewhere, shape); }

/// Two batch entries, four heads, queries of `query_dim` numbers, keys of 8.
Status check(const ScoreFunction& score, Index query_dim = 8) {
  AttentionProblem problem{};
  return make_attention_problem({.query = view({2, 4, 3, query_dim}),
                                 .key = view({2, 2, 5, 8}),
                                 .value = view({2, 2, 5, 6}),
                                 .mask = {},
                                 .bias = {}},
                                {.score = score}, {}, problem);
}

void check_refused(const ScoreFunction& score, StatusCode code, const std::string& rule, Index query_dim = 8) {
  const Status status = check(score, query_dim);
  CHECK(status.code() == code);
  CHECK_THAT(std::string(status.message()), Catch::Matchers::StartsWith("attention: "));
  CHECK_THAT(std::string(status.message()), Catch::Matchers::ContainsSubstring(rule));
}

}  // namespace

TEST_CASE("parameters that a score function needs and lacks, or has no use for, are refused") {
  check_refused({{}, ScoreKind::general}, StatusCode::option, "score general needs w");
  check_refused({{}, ScoreKind::gated}, StatusCode::option, "score gated needs w");
  check_refused({{}, ScoreKind::rbf}, StatusCode::option, "score rbf needs bandwidth");
  check_refused({{.w = view({1, 1, 8, 8})}}, StatusCode::option, "score scaled-dot takes no w");
  check_refused({{.b = view({1, 1, 1, 1})}, ScoreKind::cosine}, StatusCode::option, "score cosine takes no b");
  check_refused({{.w = view({1, 1, 8, 8})}, ScoreKind::additive}, StatusCode::option, "takes no w");
  check_refused({{}, static_cast<ScoreKind>(8)}, StatusCode::option, "score must be one of");
  CHECK(check({{}, ScoreKind::additive}).is_ok());
  CHECK(check({{}, ScoreKind::distance}).is_ok());
}

TEST_CASE("parameters of another shape than their own are refused, for one head or for all") {
  CHECK(check({{.w = view({1, 1, 8, 8})}, ScoreKind::general}).is_ok());
  CHECK(check({{.w = view({1, 4, 8, 8})}, ScoreKind::general}).is_ok());
  check_refused({{.w = view({1, 2, 8, 8})}, ScoreKind::general}, StatusCode::shape,
                "score.w must be [1, 1, 8, 8] or [1, 4, 8, 8], got [1, 2, 8, 8]");
  check_refused({{.w = view({1, 1, 8, 7})}, ScoreKind::general}, StatusCode::shape, "score.w must be");
  check_refused({{.w = view({1, 1, 1, 8})}, ScoreKind::gated}, StatusCode::shape,
                "score.w must be [1, 1, 1, 16] or [1, 4, 1, 16]");
  check_refused({{.w = view({1, 1, 1, 16}), .b = view({1, 1, 1, 2})}, ScoreKind::gated}, StatusCode::shape,
                "score.b must be [1, 1, 1, 1]");
  check_refused({{.v = view({1, 1, 1, 7})}, ScoreKind::additive}, StatusCode::shape, "score.v must be");
  check_refused({{.wq = view({1, 1, 5, 8})}, ScoreKind::additive}, StatusCode::shape,
                "score.wq and score.wk must give queries and keys as many numbers, at least 1, got 5 and 8");
  ScoreFunction strided{{.w = view({1, 1, 8, 8})}, ScoreKind::general};
  strided.w.strides[3] = 2;
  check_refused(strided, StatusCode::shape, "score.w must be contiguous along its last axis");
}

TEST_CASE("queries and keys may differ in head_dim where matrices bring them together, and only there") {
  CHECK(check({{.w = view({1, 1, 3, 8})}, ScoreKind::general}, 3).is_ok());
  CHECK(check({{.wq = view({1, 4, 5, 3}), .wk = view({1, 1, 5, 8})}, ScoreKind::additive}, 3).is_ok());
  CHECK(check({{.wq = view({1, 1, 8, 3})}, ScoreKind::additive}, 3).is_ok());
  check_refused({{}, ScoreKind::additive}, StatusCode::shape, "score.wq and score.wk must give", 3);
  check_refused({{.w = view({1, 1, 1, 11})}, ScoreKind::gated}, StatusCode::shape, "head_dim must match", 3);
  check_refused({{}, ScoreKind::dot}, StatusCode::shape, "head_dim must match", 3);
}

TEST_CASE("a bandwidth that is not between 1e-15 and 1e15 is refused for any head") {
  for (const float bad : {0.0F, -1.0F, 1e-16F, 1e16F, kNan, kInfinity}) {
    const float bandwidths[] = {1.0F, 2.0F, bad, 4.0F};
    check_refused({{.bandwidth = bhnd_view(bandwidths, {1, 4, 1, 1})}, ScoreKind::rbf}, StatusCode::option,
                  "score.bandwidth must be between 1e-15 and 1e15");
  }
}

}  // namespace heed::testing
