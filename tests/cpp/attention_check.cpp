#include "attention_check.hpp"

#include <algorithm>
#include <bit>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <cstdint>
#include <span>

#include "reference/numbers.hpp"
#include "reference/scores.hpp"
#include "report.hpp"

namespace heed::testing {
namespace {

double ratio_of_normal(double got, double expected, double bound) {
  // Where float has no normal numbers, zero is as near as it gets.
  if (got == 0.0 && bound > 0.0 && std::abs(expected) < 0x1p-126) return 0.0;
  return ratio_of(got, expected, bound);
}

std::string describe_place(const char* what, const RowPosition& row, Index column, double got, double expected) {
  return std::string(what) + "[" + std::to_string(row.b) + ", " + std::to_string(row.h) + ", " + std::to_string(row.i) +
         ", " + std::to_string(column) + "] is " + Catch::Detail::stringify(got) + ", not " +
         Catch::Detail::stringify(expected);
}

bool is_rest_untouched(const Owned<float>& tensor) {
  std::vector<std::uint8_t> is_mine(tensor.numbers.size(), 0);
  for_each_element(tensor.view.shape, [&](Index b, Index h, Index i, Index d) {
    is_mine[static_cast<std::size_t>(&tensor(b, h, i, d) - tensor.numbers.data())] = 1;
  });
  for (std::size_t n = 0; n < is_mine.size(); ++n) {
    if (is_mine[n] == 0 && tensor.numbers[n] != kUntouched) return false;
  }
  return true;
}

}  // namespace

Results::Results(const AttentionInputs& inputs, const Wanted& asked) : wanted(asked) {
  const auto [batch, heads, queries, head_dim] = inputs.query.shape;
  const Index keys = inputs.key.shape[2];
  output = allocate({batch, heads, queries, inputs.value.shape[3]}, Layout::padded, kUntouched);
  weights = allocate({batch, heads, queries, keys}, Layout::padded, kUntouched);
  log_sum_exp = allocate({batch, heads, queries, 1}, Layout::padded, kUntouched);
  scores = allocate({batch, heads, queries, keys}, Layout::padded, kUntouched);
  entropy = allocate({batch, heads, queries, 1}, Layout::padded, kUntouched);
}

AttentionOutputs Results::outputs() const {
  AttentionOutputs outputs;
  outputs.output = output.view;
  if (wanted.log_sum_exp) outputs.log_sum_exp = log_sum_exp.view;
  if (wanted.weights) outputs.weights = weights.view;
  if (wanted.entropy) outputs.entropy = entropy.view;
  if (wanted.scores) outputs.scores = scores.view;
  outputs.score_stage = wanted.scores.value_or(ScoreStage::raw);
  return outputs;
}

std::vector<std::uint32_t> Results::bits() const {
  std::vector<std::uint32_t> all;
  for (const Owned<float>* tensor : {&output, &weights, &log_sum_exp, &scores, &entropy}) {
    for (const float number : tensor->numbers) all.push_back(std::bit_cast<std::uint32_t>(number));
  }
  return all;
}

bool Results::is_padding_untouched() const {
  return is_rest_untouched(output) && is_rest_untouched(weights) && is_rest_untouched(log_sum_exp) &&
         is_rest_untouched(scores) && is_rest_untouched(entropy);
}

Wanted fitting(Wanted wanted, const AttentionOptions& options) {
  const Normalizer normalizer = options.normalizer;
  wanted.log_sum_exp = wanted.log_sum_exp && normalizer == Normalizer::softmax;
  wanted.entropy = wanted.entropy && normalizer != Normalizer::sigmoid && normalizer != Normalizer::none;
  return wanted;
}

Results run(const AttentionInputs& inputs, const AttentionOptions& options, Executor& executor, const Wanted& wanted) {
  Results results(inputs, fitting(wanted, options));
  const Status status = attention(inputs, options, results.outputs(), executor);
  INFO(status.message());
  REQUIRE(status.is_ok());
  return results;
}

Results run(const AttentionInputs& inputs, const AttentionOptions& options, const Wanted& wanted) {
  return run(inputs, options, calling_thread(), wanted);
}

double scale_of(const AttentionInputs& inputs, const AttentionOptions& options) {
  return reference::scale_of(options, static_cast<std::size_t>(inputs.query.shape[3]));
}

ScoreRules rules_of(const AttentionInputs& inputs, const AttentionOptions& options, const RowPosition& row) {
  ScoreRules rules{.scale = scale_of(inputs, options),
                   .score = options.score,
                   .normalizer = options.normalizer,
                   .top_k = options.top_k,
                   .expressions = options.expressions};
  rules.softcap = static_cast<double>(options.softcap);
  if (options.alibi_slopes != nullptr) rules.slope = static_cast<double>(options.alibi_slopes[row.h]);
  if (options.sinks != nullptr) rules.sink = static_cast<double>(options.sinks[row.h]);
  if (const PackedSequences& sequences = options.sequences; sequences.are_given()) {
    Index n = sequences.count - 1;
    while (sequences.query_starts[n] > row.i) --n;
    const Index queries = sequences.query_starts[n + 1] - sequences.query_starts[n];
    const Index keys = sequences.keys()[n + 1] - sequences.keys()[n];
    Index offset = options.causal == Causal::upper_left ? 0 : keys - queries;
    if (options.query_offsets != nullptr) offset = options.query_offsets[n];
    rules.position = static_cast<double>(sequences.keys()[n] + row.i - sequences.query_starts[n] + offset);
    return rules;
  }
  const Index keys = options.key_lengths == nullptr ? inputs.key.shape[2] : options.key_lengths[row.b];
  const Index queries = options.query_lengths == nullptr ? inputs.query.shape[2] : options.query_lengths[row.b];
  Index offset = options.causal == Causal::upper_left ? 0 : keys - queries;
  if (options.query_offsets != nullptr) offset = options.query_offsets[row.b];
  rules.position = static_cast<double>(row.i + offset);
  return rules;
}

Expected expect(const AttentionInputs& inputs, const AttentionOptions& options) {
  Expected expected{.result = reference::attention(inputs, options), .bounds = {}};
  const reference::AttentionResult& result = expected.result;
  const std::vector<double>& scores = result.scores[static_cast<std::size_t>(ScoreStage::masked)];
  const auto keys = static_cast<std::size_t>(inputs.key.shape[2]);
  const std::span<const double> kept =
      options.dropout.p > 0.0F ? std::span<const double>(result.kept) : std::span<const double>();
  const auto [batch, heads, queries, head_dim] = inputs.query.shape;
  std::size_t row = 0;
  for_each_element({batch, heads, 1, 1}, [&](Index b, Index h, Index, Index) {
    const Index kv_head = h / (heads / inputs.key.shape[1]);
    const auto key_rows = reference::read_rows(inputs.key, b, kv_head);
    const auto value_rows = reference::read_rows(inputs.value, b, kv_head);
    for (Index i = 0; i < queries; ++i, ++row) {
      const RowPosition position{b, h, i};
      const ExactRow exact{.weights = std::span(result.probabilities).subspan(row * keys, keys),
                           .scores = std::span(scores).subspan(row * keys, keys),
                           .log_sum_exp = result.log_sum_exp[row],
                           .entropy = result.entropy[row],
                           .keys = key_rows,
                           .values = value_rows,
                           .kept = kept.subspan(options.dropout.p > 0.0F ? row * keys : 0, kept.empty() ? 0 : keys)};
      expected.bounds.push_back(bound_row(inputs, rules_of(inputs, options, position), position, exact));
    }
  });
  return expected;
}

double Comparison::worst() const { return std::max({output, weights, log_sum_exp, scores, entropy}); }

/// Scores of moderate size are no further off than half of this.
constexpr double kApart = 1e-3;

Comparison compare(const Expected& expected, const Results& results) {
  Comparison comparison;
  const auto note = [&comparison](double& worst, double ratio, auto describe_it) {
    if (ratio <= worst) return;
    if (ratio > comparison.worst()) comparison.where = describe_it();
    worst = ratio;
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
        note(worst, ratio_of_normal(actual, right, bound[n]),
             [&] { return describe_place(what, position, column, actual, right); });
      }
    };
    const Wanted& wanted = results.wanted;
    if (wanted.scores) {
      const auto stage = static_cast<std::size_t>(*wanted.scores);
      hold("scores", comparison.scores, results.scores, expected.result.scores[stage], bounds.scores[stage]);
    }
    if (bounds.is_open) {
      comparison.lax_rows += bounds.apart > kApart ? 1 : 0;
      ++row;
      return;
    }
    hold("output", comparison.output, results.output, expected.result.output, bounds.output);
    if (wanted.log_sum_exp) {
      hold("lse", comparison.log_sum_exp, results.log_sum_exp, expected.result.log_sum_exp, {bounds.log_sum_exp});
    }
    if (wanted.weights) {
      hold("weights", comparison.weights, results.weights, expected.result.weights, bounds.weights);
    }
    if (wanted.entropy) {
      hold("entropy", comparison.entropy, results.entropy, expected.result.entropy, {bounds.entropy});
    }
    ++row;
  });
  return comparison;
}

namespace {

Results check_results(const AttentionTensors& tensors, const Expected& expected, const Wanted& wanted) {
  Results results = run(tensors.inputs(), tensors.options, wanted);
  const Comparison comparison = compare(expected, results);
  report_ratio("output", comparison.output);
  report_ratio("weights", comparison.weights);
  report_ratio("lse", comparison.log_sum_exp);
  report_ratio("scores", comparison.scores);
  report_ratio("entropy", comparison.entropy);
  INFO(": " << comparison.where);
  CHECK(comparison.output <= 1.0);
  CHECK(comparison.weights <= 1.0);
  CHECK(comparison.log_sum_exp <= 1.0);
  CHECK(comparison.scores <= 1.0);
  CHECK(comparison.entropy <= 1.0);
  CHECK(comparison.lax_rows == 0);
  CHECK(results.is_padding_untouched());
  return results;
}

}  // namespace

void check_tensors(const AttentionTensors& tensors) {
  const Expected expected = expect(tensors.inputs(), tensors.options);
  check_results(tensors, expected, {});
}

void check_all_results(const AttentionTensors& tensors) {
  const Expected expected = expect(tensors.inputs(), tensors.options);
  const Results lean = check_results(tensors, expected, {.weights = false, .entropy = false});
  for (const ScoreStage stage : {ScoreStage::raw, ScoreStage::capped, ScoreStage::masked}) {
    const Results full = check_results(tensors, expected, {.scores = stage});
    INFO(", scores at stage " << static_cast<int>(stage));
    CHECK(full.output.numbers == lean.output.numbers);
    CHECK(full.log_sum_exp.numbers == lean.log_sum_exp.numbers);
  }
}

void check_all_results(Random& random, const AttentionCase& one) {
  INFO(describe(one));
  check_all_results(make_tensors(random, one));
}

void check_workers(const AttentionTensors& tensors, std::initializer_list<int> numbers, const Wanted& wanted) {
  const auto expected = run(tensors.inputs(), tensors.options, wanted).bits();
  for (const int workers : numbers) {
    ReverseExecutor executor(workers);
    INFO(", " << workers << " workers");
    CHECK(run(tensors.inputs(), tensors.options, executor, wanted).bits() == expected);
  }
}

void check_case(Random& random, const AttentionCase& one) {
  INFO(describe(one));
  check_tensors(make_tensors(random, one));
}

}  // namespace heed::testing
