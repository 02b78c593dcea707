#include "problem/attention_vjp_problem.hpp"

#include <array>

#include "problem/check_expressions.hpp"
#include "problem/check_views.hpp"

namespace heed {
namespace {

constexpr ViewRules kRules{"attentionVjp"};

Status check_supported(const AttentionInputs& in) {
  if (in.key.pages.table == nullptr) return {};
  return kRules.broken(StatusCode::unsupported, {"a cache has no gradients"});
}

/// Functions of scores and weights come with their derivatives.
Status check_functions(const Expressions& expressions, const AttentionVjpInputs& inputs,
                       const AttentionGradients& gradients) {
  const ExpressionSlopes& slopes = inputs.slopes;
  if (slopes.score == 0 && expressions.have(ProgramOf::score)) {
    return kRules.broken(StatusCode::option, {"scoreMod must come with its derivative"});
  }
  if (slopes.weight == 0 && expressions.have(ProgramOf::weight)) {
    return kRules.broken(StatusCode::option, {"probMod must come with its derivative"});
  }
  if (slopes.read_count > 0 && gradients.tables == nullptr) {
    return kRules.broken(StatusCode::option, {"reads of tables must come with gradients of tables"});
  }
  return check_slopes(expressions, slopes, gradients.table_numbers);
}

Status check_saved(const AttentionVjpInputs& inputs, const AttentionProblem& forward) {
  const Shape shape{forward.batch, forward.query_heads, forward.query_length, forward.value_dim};
  const Shape of_rows{shape[0], shape[1], shape[2], 1};
  if (forward.options.normalizer == Normalizer::softmax) {
    Status status = first_failure(
        {kRules.check_shape("output", inputs.output, shape), kRules.check_shape("lse", inputs.log_sum_exp, of_rows)});
    if (!status.is_ok()) return status;
    const bool has_rows = shape[0] * shape[2] > 0;
    if (has_rows && (!inputs.output.is_present() || !inputs.log_sum_exp.is_present())) {
      return kRules.broken(StatusCode::shape, {"a softmax needs the output and lse of its forward pass"});
    }
  }
  const TensorView<const float>& gradient = inputs.output_gradient;
  if (gradient.shape != shape) {
    return kRules.broken(StatusCode::shape, {"dOutput must be ", shape, ", got ", gradient.shape});
  }
  const Shape of_weights{shape[0], shape[1], shape[2], forward.key_length};
  return first_failure({kRules.check_shape("dWeights", inputs.weights_gradient, of_weights),
                        kRules.check_contiguous("dWeights", inputs.weights_gradient),
                        kRules.check_present("dOutput", gradient), kRules.check_contiguous("dOutput", gradient),
                        kRules.check_contiguous("output", inputs.output)});
}

Status check_gradients(const AttentionVjpInputs& inputs, const AttentionOptions& options,
                       const AttentionGradients& gradients) {
  const AttentionInputs& in = inputs.forward;
  if (gradients.bias.is_present() && !in.bias.is_present()) {
    return kRules.broken(StatusCode::option, {"there is no bias to have a gradient"});
  }
  if (gradients.sinks != nullptr && options.sinks == nullptr) {
    return kRules.broken(StatusCode::option, {"there are no sinks to have gradients"});
  }
  if (gradients.log_scale != nullptr && !gradients.query.is_present()) {
    return kRules.broken(StatusCode::option, {"the gradient of the scale comes with that of the query"});
  }
  return first_failure(
      {kRules.check_shape("dq", gradients.query, in.query.shape), kRules.check_shape("dk", gradients.key, in.key.shape),
       kRules.check_shape("dv", gradients.value, in.value.shape),
       kRules.check_shape("dbias", gradients.bias, in.bias.shape), kRules.check_contiguous("dq", gradients.query),
       kRules.check_contiguous("dk", gradients.key), kRules.check_contiguous("dv", gradients.value)});
}

struct Parameter {
  const char* name;
  TensorView<const float> ScoreFunction::* given;
  TensorView<float> ScoreGradients::* gradient;
};

constexpr std::array<Parameter, 6> kParameters = {
    {{"dscore.w", &ScoreFunction::w, &ScoreGradients::w},
     {"dscore.wq", &ScoreFunction::wq, &ScoreGradients::wq},
     {"dscore.wk", &ScoreFunction::wk, &ScoreGradients::wk},
     {"dscore.b", &ScoreFunction::b, &ScoreGradients::b},
     {"dscore.v", &ScoreFunction::v, &ScoreGradients::v},
     {"dscore.bandwidth", &ScoreFunction::bandwidth, &ScoreGradients::bandwidth}}};

Status check_parameters(const ScoreFunction& score, const ScoreGradients& gradients) {
  for (const Parameter& parameter : kParameters) {
    const TensorView<const float>& given = score.*parameter.given;
    const TensorView<float>& gradient = gradients.*parameter.gradient;
    if (gradient.is_present() && !given.is_present()) {
      return kRules.broken(StatusCode::option, {parameter.name, " is that of a parameter that was not given"});
    }
    Status status = first_failure(
        {kRules.check_shape(parameter.name, gradient, given.shape), kRules.check_contiguous(parameter.name, gradient)});
    if (!status.is_ok()) return status;
  }
  return {};
}

/// The gradients of queries of other slices would be summed into the same keys.
Status check_whole(const AttentionProblem& forward) {
  if (forward.query_length == forward.whole.query_length) return {};
  return kRules.broken(StatusCode::option,
                       {"a slice must hold all ", forward.whole.query_length, " queries, got ", forward.query_length});
}

}  // namespace

Status make_attention_vjp_problem(const AttentionVjpInputs& inputs, const AttentionOptions& options,
                                  const AttentionGradients& gradients, AttentionVjpProblem& problem) {
  Status status = make_attention_problem(inputs.forward, options, {}, problem.forward);
  if (status.is_ok()) status = check_supported(inputs.forward);
  if (status.is_ok()) status = check_functions(options.expressions, inputs, gradients);
  if (status.is_ok()) status = check_saved(inputs, problem.forward);
  if (status.is_ok()) status = check_gradients(inputs, options, gradients);
  if (status.is_ok()) status = check_parameters(options.score, gradients.score);
  if (status.is_ok()) status = check_whole(problem.forward);
  if (!status.is_ok()) return status;

  problem.output = inputs.output;
  problem.log_sum_exp = inputs.log_sum_exp;
  problem.output_gradient = inputs.output_gradient;
  problem.weights_gradient = inputs.weights_gradient;
  problem.slopes = inputs.slopes;
  problem.gradients = gradients;
  TensorView<float>& bias = problem.gradients.bias;
  for (std::size_t axis = 0; axis < 4 && bias.is_present(); ++axis) {
    const Index full = problem.forward.inputs.bias.shape[axis];
    if (bias.shape[axis] == 1 && full != 1) {
      bias.shape[axis] = full;
      bias.strides[axis] = 0;
    }
  }
  return {};
}

}  // namespace heed
