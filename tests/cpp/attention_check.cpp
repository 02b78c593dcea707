#include "attention_check.hpp"

#include <algorithm>
#include <bit>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <limits>

#include "kernels/instances/instances.hpp"
#include "ops/attend_with.hpp"
#include "report.hpp"
#include "schedule/serial_executor.hpp"

namespace heed::testing {
namespace {

double ratio_of(double got, double expected, double bound) {
  if (got == expected) return 0.0;
  // Where float has no normal numbers, zero is as near as it gets.
  if (got == 0.0 && bound > 0.0 && std::abs(expected) < 0x1p-126) return 0.0;
  const double error = std::abs(got - expected);
  return std::isfinite(error) && bound > 0.0 ? error / bound : std::numeric_limits<double>::infinity();
}

std::string describe_place(const char* what, const RowPosition& row, Index column, double got, double expected) {
  return std::string(what) + "[" + std::to_string(row.b) + ", " + std::to_string(row.h) + ", " + std::to_string(row.i) +
         ", " + std::to_string(column) + "] is " + Catch::Detail::stringify(got) + ", not " +
         Catch::Detail::stringify(expected);
}

bool is_rest_untouched(const Owned<float>& tensor) {
  std::vector<bool> is_mine(tensor.numbers.size(), false);
  for_each_element(tensor.view.shape, [&](Index b, Index h, Index i, Index d) {
    is_mine[static_cast<std::size_t>(&tensor(b, h, i, d) - tensor.numbers.data())] = true;
  });
  for (std::size_t n = 0; n < is_mine.size(); ++n) {
    if (!is_mine[n] && tensor.numbers[n] != kUntouched) return false;
  }
  return true;
}

}  // namespace

Results::Results(const AttentionInputs& inputs) {
  const auto [batch, heads, queries, head_dim] = inputs.query.shape;
  output = allocate({batch, heads, queries, inputs.value.shape[3]}, Layout::padded, kUntouched);
  weights = allocate({batch, heads, queries, inputs.key.shape[2]}, Layout::padded, kUntouched);
  log_sum_exp = allocate({batch, heads, queries, 1}, Layout::padded, kUntouched);
}

std::vector<std::uint32_t> Results::bits() const {
  std::vector<std::uint32_t> all;
  for (const Owned<float>* tensor : {&output, &weights, &log_sum_exp}) {
    for (const float number : tensor->numbers) all.push_back(std::bit_cast<std::uint32_t>(number));
  }
  return all;
}

bool Results::is_padding_untouched() const {
  return is_rest_untouched(output) && is_rest_untouched(weights) && is_rest_untouched(log_sum_exp);
}

Results run(const kernels::AttentionKernels& kernels, const AttentionInputs& inputs, const AttentionOptions& options,
            Executor& executor) {
  Results results(inputs);
  const Status status = attend_with(kernels, inputs, options, results.outputs(), executor);
  INFO(status.message());
  REQUIRE(status.is_ok());
  return results;
}

Results run(const kernels::AttentionKernels& kernels, const AttentionInputs& inputs, const AttentionOptions& options) {
  SerialExecutor executor;
  return run(kernels, inputs, options, executor);
}

double scale_of(const AttentionInputs& inputs, const AttentionOptions& options) {
  return options.scale ? static_cast<double>(*options.scale)
                       : 1.0 / std::sqrt(static_cast<double>(inputs.query.shape[3]));
}

Expected expect(const AttentionInputs& inputs, const AttentionOptions& options) {
  Expected expected{.result = reference::attention(inputs, options), .bounds = {}};
  const double scale = scale_of(inputs, options);
  const auto keys = static_cast<std::size_t>(inputs.key.shape[2]);
  std::size_t row = 0;
  for_each_element(
      {inputs.query.shape[0], inputs.query.shape[1], inputs.query.shape[2], 1}, [&](Index b, Index h, Index i, Index) {
        const std::span<const double> weights(expected.result.weights.data() + row * keys, keys);
        expected.bounds.push_back(bound_row(inputs, scale, {b, h, i}, weights, expected.result.log_sum_exp[row]));
        ++row;
      });
  return expected;
}

double Comparison::worst() const { return std::max({output, weights, log_sum_exp}); }

Comparison compare(const Expected& expected, const Results& results) {
  Comparison comparison;
  const auto note = [&comparison](double& worst, double ratio, auto describe_it) {
    if (ratio > comparison.worst()) comparison.where = describe_it();
    worst = std::max(worst, ratio);
  };
  std::size_t row = 0;
  for_each_element(results.log_sum_exp.view.shape, [&](Index b, Index h, Index i, Index) {
    const RowBounds& bounds = expected.bounds[row];
    const RowPosition position{b, h, i};
    const auto hold = [&](const char* what, double& worst, const Owned<float>& got, const std::vector<double>& want,
                          const std::vector<double>& bound) {
      for (std::size_t n = 0; n < bound.size(); ++n) {
        const auto column = static_cast<Index>(n);
        const double actual = static_cast<double>(got(b, h, i, column));
        const double right = want[row * bound.size() + n];
        note(worst, ratio_of(actual, right, bound[n]),
             [&] { return describe_place(what, position, column, actual, right); });
      }
    };
    hold("output", comparison.output, results.output, expected.result.output, bounds.output);
    hold("weights", comparison.weights, results.weights, expected.result.weights, bounds.weights);
    hold("lse", comparison.log_sum_exp, results.log_sum_exp, expected.result.log_sum_exp, {bounds.log_sum_exp});
    ++row;
  });
  return comparison;
}

void check_tensors(const AttentionTensors& tensors) {
  const AttentionInputs inputs = tensors.inputs();
  const Expected expected = expect(inputs, tensors.options);
  for (const kernels::AttentionKernels* kernels : kernels::runnable_kernels()) {
    const Results results = run(*kernels, inputs, tensors.options);
    const Comparison comparison = compare(expected, results);
    report_ratio("output", kernels->name, comparison.output);
    report_ratio("weights", kernels->name, comparison.weights);
    report_ratio("lse", kernels->name, comparison.log_sum_exp);
    INFO(kernels->name << ": " << comparison.where);
    CHECK(comparison.output <= 1.0);
    CHECK(comparison.weights <= 1.0);
    CHECK(comparison.log_sum_exp <= 1.0);
    CHECK(results.is_padding_untouched());
  }
}

void check_case(Random& random, const AttentionCase& one) {
  INFO(describe(one));
  check_tensors(make_tensors(random, one));
}

}  // namespace heed::testing
