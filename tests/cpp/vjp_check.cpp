#include "vjp_check.hpp"

#include <bit>
#include <catch_amalgamated.hpp>

#include "attention_check.hpp"
#include "reference/attention_vjp.hpp"
#include "report.hpp"
#include "vjp_error.hpp"

namespace heed::testing {
namespace {

/// Counts numbers that are none of the view's and were written.
int count_written(const Owned<float>& tensor) {
  int written = 0;
  for (const float number : tensor.numbers) written += number != kUntouched ? 1 : 0;
  for_each_element(tensor.view.shape,
                   [&](Index b, Index h, Index i, Index d) { written -= tensor(b, h, i, d) != kUntouched ? 1 : 0; });
  return written;
}

class Check {
 public:
  void number(const char* what, double got, double expected, double bound) {
    const double ratio = ratio_of(got, expected, bound);
    report_ratio(what, ratio);
    if (ratio <= worst_) return;
    worst_ = ratio;
    where_ = std::string(what) + " is " + Catch::Detail::stringify(got) + ", not " +
             Catch::Detail::stringify(expected) + ", bound " + Catch::Detail::stringify(bound);
  }

  void tensor(const char* what, const Owned<float>& got, const std::vector<double>& expected,
              const std::vector<double>& bounds) {
    std::size_t n = 0;
    for_each_element(got.view.shape, [&](Index b, Index h, Index i, Index d) {
      number(what, static_cast<double>(got(b, h, i, d)), expected[n], bounds[n]);
      ++n;
    });
    INFO(what);
    CHECK(count_written(got) == 0);
  }

  void finish() const {
    INFO(": " << where_);
    CHECK(worst_ <= 1.0);
  }

 private:
  double worst_ = 0.0;
  std::string where_;
};

/// The bounds of the weights as the normalizer makes them, before weight_mod and dropout.
std::vector<RowBounds> bound_undropped(const AttentionInputs& inputs, AttentionOptions options) {
  options.dropout = {};
  const Expressions& given = options.expressions;
  std::vector<std::int32_t> words(given.words, given.words + given.word_count);
  if (given.are_given()) words[static_cast<std::size_t>(ProgramOf::weight)] = 0;
  options.expressions.words = words.data();
  return expect(inputs, options).bounds;
}

}  // namespace

VjpGiven run_forward(Random& random, const AttentionTensors& tensors, const ExpressionSlopes& slopes) {
  VjpGiven given;
  const AttentionInputs inputs = tensors.inputs();
  Results results = run(inputs, tensors.options, {.weights = false, .entropy = false});
  given.output = std::move(results.output);
  given.log_sum_exp = std::move(results.log_sum_exp);
  given.output_gradient = random_tensor(random, given.output.view.shape, Layout::bnhd);
  given.inputs = {inputs, given.output.reading(), given.log_sum_exp.reading(), given.output_gradient.reading(), slopes};
  return given;
}

void give_weights_gradient(Random& random, VjpGiven& given) {
  const AttentionInputs& forward = given.inputs.forward;
  const Shape& query = forward.query.shape;
  given.weights_gradient = random_tensor(random, {query[0], query[1], query[2], forward.key.shape[2]}, Layout::bnhd);
  given.inputs.weights_gradient = given.weights_gradient.reading();
}

Gradients::Gradients(const AttentionTensors& tensors) : log_scale(kUntouched) {
  const AttentionInputs inputs = tensors.inputs();
  query = allocate(inputs.query.shape, Layout::padded, kUntouched);
  key = allocate(inputs.key.shape, Layout::padded, kUntouched);
  value = allocate(inputs.value.shape, Layout::padded, kUntouched);
  if (inputs.bias.is_present()) bias = allocate(inputs.bias.shape, Layout::padded, kUntouched);
  const auto start = [](const char* /*name*/, Owned<float>& gradient, const TensorView<const float>& parameter) {
    if (parameter.is_present()) gradient = allocate(parameter.shape, Layout::padded, kUntouched);
  };
  for_each_parameter(start, *this, tensors.options.score);
  tables.assign(static_cast<std::size_t>(tensors.options.expressions.number_count), kUntouched);
  if (tensors.options.sinks != nullptr) sinks.assign(static_cast<std::size_t>(inputs.query.shape[1]), kUntouched);
}

AttentionGradients Gradients::views() {
  return {.query = query.view,
          .key = key.view,
          .value = value.view,
          .bias = bias.view,
          .sinks = sinks.empty() ? nullptr : sinks.data(),
          .log_scale = &log_scale,
          .score = {w.view, wq.view, wk.view, b.view, v.view, bandwidth.view},
          .tables = tables.empty() ? nullptr : tables.data(),
          .table_numbers = std::ssize(tables)};
}

std::vector<std::uint32_t> Gradients::bits() const {
  std::vector<std::uint32_t> all = {std::bit_cast<std::uint32_t>(log_scale)};
  for (const std::vector<float>* numbers :
       {&query.numbers, &key.numbers, &value.numbers, &bias.numbers, &sinks, &w.numbers, &wq.numbers, &wk.numbers,
        &b.numbers, &v.numbers, &bandwidth.numbers, &tables}) {
    for (const float number : *numbers) all.push_back(std::bit_cast<std::uint32_t>(number));
  }
  return all;
}

Gradients run_backward(const VjpGiven& given, const AttentionTensors& tensors, Executor& executor) {
  Gradients gradients(tensors);
  const Status status = attention_vjp(given.inputs, tensors.options, gradients.views(), executor);
  INFO(status.message());
  REQUIRE(status.is_ok());
  return gradients;
}

void check_workers(const VjpGiven& given, const AttentionTensors& tensors) {
  const auto expected = run_backward(given, tensors).bits();
  for (const int workers : {1, 3, 4}) {
    ReverseExecutor executor(workers);
    CHECK((run_backward(given, tensors, executor).bits() == expected));
  }
}

bool check_gradients(Random& random, const AttentionCase& one) {
  INFO(describe(one));
  return check_gradients(random, make_tensors(random, one), {});
}

bool check_gradients(Random& random, const AttentionTensors& tensors, const ExpressionSlopes& slopes) {
  return check_gradients(run_forward(random, tensors, slopes), tensors);
}

bool check_gradients(const VjpGiven& given, const AttentionTensors& tensors) {
  const Gradients gradients = run_backward(given, tensors);
  const AttentionInputs inputs = tensors.inputs();
  const reference::AttentionVjpResult exact =
      reference::attention_vjp(inputs, tensors.options, given.inputs.output_gradient, given.inputs.weights_gradient);
  const ForwardBounds forward{expect(inputs, tensors.options).bounds, bound_undropped(inputs, tensors.options)};
  const std::optional<VjpBounds> found = bound_vjp(given.inputs, tensors.options, exact, forward);
  if (!found) return false;
  const VjpBounds& bounds = *found;
  Check check;
  check.tensor("dq", gradients.query, exact.query, bounds.query);
  check.tensor("dk", gradients.key, exact.key, bounds.key);
  check.tensor("dv", gradients.value, exact.value, bounds.value);
  if (!exact.bias.empty()) check.tensor("dbias", gradients.bias, exact.bias, bounds.bias);
  const auto parameter = [&](const std::string& name, const Owned<float>& got, const std::vector<double>& expected,
                             const std::vector<double>& bound) {
    if (!expected.empty()) check.tensor(("dscore." + name).c_str(), got, expected, bound);
  };
  for_each_parameter(parameter, gradients, exact.score, bounds);
  for (std::size_t h = 0; h < exact.sinks.size(); ++h) {
    check.number("dsinks", static_cast<double>(gradients.sinks[h]), exact.sinks[h], bounds.sinks[h]);
  }
  for (std::size_t n = 0; n < exact.tables.size(); ++n) {
    check.number("dtables", static_cast<double>(gradients.tables[n]), exact.tables[n], bounds.tables[n]);
  }
  check.number("dscale", static_cast<double>(gradients.log_scale), exact.log_scale, bounds.log_scale);
  check.finish();
  return true;
}

}  // namespace heed::testing
