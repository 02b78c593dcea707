#include "problem/attention_problem.hpp"

#include <array>
#include <catch_amalgamated.hpp>
#include <cmath>

#include "attention_case.hpp"

namespace heed::testing {
namespace {

// Any address will do: checks read shapes and strides, never numbers.
float somewhere = 0.0F;
std::uint8_t some_mask = 0;

AttentionInputs inputs_of(const Shape& query, const Shape& key, const Shape& value) {
  return {.query = bhnd_view<const float>(&somewhere, query),
          .key = bhnd_view<const float>(&somewhere, key),
          .value = bhnd_view<const float>(&somewhere, value),
          .mask = {},
          .bias = {}};
}

AttentionInputs good_inputs() { return inputs_of({2, 4, 3, 8}, {2, 2, 5, 8}, {2, 2, 5, 6}); }

Status check(const AttentionInputs& inputs, const AttentionOptions& options = {},
             const AttentionOutputs& outputs = {}) {
  AttentionProblem problem{};
  return make_attention_problem(inputs, options, outputs, problem);
}

AttentionProblem problem_of(const AttentionInputs& inputs, const AttentionOptions& options = {}) {
  AttentionProblem problem{};
  const Status status = make_attention_problem(inputs, options, {}, problem);
  INFO(status.message());
  REQUIRE(status.is_ok());
  return problem;
}

}  // namespace

TEST_CASE("a problem states the sizes and defaults of its call") {
  const AttentionProblem problem = problem_of(good_inputs());
  CHECK(problem.batch == 2);
  CHECK(problem.query_heads == 4);
  CHECK(problem.kv_heads == 2);
  CHECK(problem.heads_per_group() == 2);
  CHECK(problem.query_length == 3);
  CHECK(problem.key_length == 5);
  CHECK(problem.head_dim == 8);
  CHECK(problem.value_dim == 6);
  CHECK(problem.scale == Catch::Approx(1.0 / std::sqrt(8.0)));
  CHECK_FALSE(problem.options.softcap);
  CHECK(problem.options.causal == Causal::none);
}

TEST_CASE("a message names the function, the rule and what arrived") {
  const Status status = check(inputs_of({1, 4, 8, 64}, {1, 4, 96, 64}, {1, 4, 95, 64}));
  CHECK(status.code() == StatusCode::shape);
  CHECK(status.message() == "attention: key and value lengths must match, got key [1, 4, 96, 64] value [1, 4, 95, 64]");
}

TEST_CASE("operands without data are refused unless they have no elements") {
  for (auto member : {&AttentionInputs::query, &AttentionInputs::key, &AttentionInputs::value}) {
    AttentionInputs inputs = good_inputs();
    (inputs.*member).data = nullptr;
    const Status status = check(inputs);
    CHECK(status.code() == StatusCode::shape);
    CHECK_THAT(std::string(status.message()), Catch::Matchers::ContainsSubstring("must have data"));
  }
  AttentionInputs empty = inputs_of({1, 1, 4, 8}, {1, 1, 0, 8}, {1, 1, 0, 8});
  empty.key.data = empty.value.data = nullptr;
  CHECK(check(empty).is_ok());
}

TEST_CASE("rows that are not contiguous are refused, a single column is not") {
  AttentionInputs inputs = good_inputs();
  inputs.key.strides[3] = 2;
  const Status status = check(inputs);
  CHECK(status.code() == StatusCode::shape);
  CHECK(status.message() == "attention: key must be contiguous along its last axis, got stride 2");

  AttentionInputs single = inputs_of({1, 1, 3, 1}, {1, 1, 5, 1}, {1, 1, 5, 1});
  single.key.strides[3] = 7;
  CHECK(check(single).is_ok());
}

TEST_CASE("sizes below zero or past 2^30 are refused before anything is multiplied") {
  for (const Index size :
       {Index{-1}, (Index{1} << 30) + 1, std::numeric_limits<Index>::max(), std::numeric_limits<Index>::min()}) {
    for (std::size_t axis = 0; axis < 4; ++axis) {
      AttentionInputs inputs = good_inputs();
      inputs.query.shape[axis] = inputs.key.shape[axis] = inputs.value.shape[axis] = size;
      INFO("axis " << axis << " of " << size);
      CHECK(check(inputs).code() == StatusCode::shape);
    }
  }
  AttentionInputs inputs = good_inputs();
  inputs.mask = {&some_mask, {1, 1, 1, -5}, {0, 0, 0, 1}};
  CHECK(check(inputs).code() == StatusCode::shape);
}

TEST_CASE("outputs of another shape are refused") {
  const auto outputs_with = [](auto member, const Shape& shape) {
    AttentionOutputs outputs;
    outputs.*member = bhnd_view(&somewhere, shape);
    return outputs;
  };
  const AttentionInputs inputs = good_inputs();
  CHECK(check(inputs, {}, outputs_with(&AttentionOutputs::output, {2, 4, 3, 6})).is_ok());
  CHECK(check(inputs, {}, outputs_with(&AttentionOutputs::weights, {2, 4, 3, 5})).is_ok());
  CHECK(check(inputs, {}, outputs_with(&AttentionOutputs::log_sum_exp, {2, 4, 3, 1})).is_ok());
  const Status status = check(inputs, {}, outputs_with(&AttentionOutputs::output, {2, 4, 3, 8}));
  CHECK(status.code() == StatusCode::shape);
  CHECK(status.message() == "attention: output must be [2, 4, 3, 6], got [2, 4, 3, 8]");
  CHECK(!check(inputs, {}, outputs_with(&AttentionOutputs::weights, {2, 2, 3, 5})).is_ok());
  CHECK(!check(inputs, {}, outputs_with(&AttentionOutputs::log_sum_exp, {2, 4, 1, 3})).is_ok());
}

TEST_CASE("outputs that are not contiguous along their last axis are refused") {
  AttentionOutputs outputs;
  outputs.weights = bhnd_view(&somewhere, {2, 4, 3, 5});
  outputs.weights.strides[3] = 2;
  CHECK(check(good_inputs(), {}, outputs).code() == StatusCode::shape);
}

TEST_CASE("a causal alignment that is none of the three is refused") {
  CHECK(check(good_inputs(), {{}, {.causal = static_cast<Causal>(3)}}).code() == StatusCode::option);
}

TEST_CASE("broadcast axes of mask and bias get stride 0 and the others keep theirs") {
  AttentionInputs inputs = good_inputs();
  inputs.mask = bhnd_view<const std::uint8_t>(&some_mask, {2, 1, 3, 1});
  inputs.bias = bhnd_view<const float>(&somewhere, {1, 4, 1, 5});
  const AttentionProblem problem = problem_of(inputs);
  CHECK(problem.inputs.mask.shape == Shape{2, 4, 3, 5});
  CHECK(problem.inputs.mask.strides == Shape{3, 0, 1, 0});
  CHECK(problem.inputs.bias.strides == Shape{0, 5, 0, 1});
  CHECK(problem.key_limit == 5);
}

TEST_CASE("the shorter of mask and bias limits the keys") {
  AttentionInputs inputs = good_inputs();
  inputs.mask = bhnd_view<const std::uint8_t>(&some_mask, {1, 1, 1, 4});
  inputs.bias = bhnd_view<const float>(&somewhere, {1, 1, 1, 3});
  CHECK(problem_of(inputs).key_limit == 3);
}

}  // namespace heed::testing
