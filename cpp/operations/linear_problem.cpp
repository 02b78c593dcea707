#include "operations/linear_problem.hpp"

#include <algorithm>
#include <cmath>

#include "operations/common/view_rows.hpp"

namespace heed {
namespace {

Status wrong_shape(const ViewRules& rules, const char* rule, const LinearInputs& in) {
  return rules.broken(StatusCode::shape,
                      {rule, ", got query ", in.query.shape, " key ", in.key.shape, " value ", in.value.shape});
}

Status check_operands(const ViewRules& rules, const LinearInputs& in, bool is_causal) {
  const Shape& q = in.query.shape;
  const Shape& k = in.key.shape;
  const Shape& v = in.value.shape;
  if (q[1] == 0 || k[1] == 0 || v[1] == 0)
    return wrong_shape(rules, "query, key and value must have at least one head", in);
  if (q[3] == 0) return wrong_shape(rules, "head_dim must be at least 1", in);
  if (v[3] == 0) return wrong_shape(rules, "value_dim must be at least 1", in);
  if (q[0] != k[0] || q[0] != v[0]) return wrong_shape(rules, "query, key and value must have the same batch", in);
  if (q[3] != k[3]) return wrong_shape(rules, "query and key must have the same head_dim", in);
  if (k[2] != v[2]) return wrong_shape(rules, "key and value lengths must match", in);
  if (v[1] % k[1] != 0 || (q[1] % v[1] != 0 && v[1] % q[1] != 0)) {
    return wrong_shape(rules, "value heads must be a multiple of key heads, and of query heads or a divisor", in);
  }
  if (is_causal && q[2] != k[2])
    return wrong_shape(rules, "query and key lengths must match unless causal is false", in);
  return {};
}

[[gnu::noinline]] Status check_one_of(const ViewRules& rules, const char* name, const TensorView<const float>& view,
                                      const Shape& one, const Shape& other) {
  if (!view.is_present() || view.shape == one || view.shape == other) return {};
  return rules.broken(StatusCode::shape, {name, " must be ", one, " or ", other, ", got ", view.shape});
}

Status check_decay(const ViewRules& rules, const TensorView<const float>& decay, bool is_gated, const Shape& wide) {
  if (!is_gated) {
    return decay.is_present() ? rules.broken(StatusCode::option, {"decay is for the gated rules alone"}) : Status();
  }
  const bool has_elements = std::ranges::find(wide, 0) == wide.end();
  if (!decay.is_present() && has_elements) {
    return rules.broken(StatusCode::option, {"the gated rules need decay"});
  }
  return check_one_of(rules, "decay", decay, {wide[0], wide[1], wide[2], 1}, wide);
}

Status check_beta(const ViewRules& rules, const TensorView<const float>& beta, bool is_delta, const Shape& wide) {
  if (beta.is_present() && !is_delta) {
    return rules.broken(StatusCode::option, {"beta is for the delta rules alone"});
  }
  return check_one_of(rules, "beta", beta, {wide[0], wide[1], wide[2], 1}, {wide[0], 1, wide[2], 1});
}

Status check_options(const ViewRules& rules, const LinearOptions& options) {
  if (!is_known(options.rule)) {
    return rules.broken(StatusCode::option, {"rule must be linear, gated, delta, gated_delta or elu"});
  }
  if (!options.causal && options.rule != LinearRule::elu) {
    return rules.broken(StatusCode::option, {"causal may be false for rule elu alone"});
  }
  if (!options.scale) return {};
  if (options.rule == LinearRule::elu) {
    return rules.broken(StatusCode::option, {"scale has no meaning for rule elu, which divides it out"});
  }
  if (std::isfinite(*options.scale)) return {};
  return rules.broken(StatusCode::option, {"scale must be a finite number"});
}

}  // namespace

Status make_linear_problem(const ViewRules& rules, const LinearInputs& inputs, const LinearOptions& options,
                           const LinearOutputs& outputs, LinearProblem& problem) {
  const Shape& q = inputs.query.shape;
  const Shape& k = inputs.key.shape;
  const Shape& v = inputs.value.shape;
  const bool is_gated = options.rule == LinearRule::gated || options.rule == LinearRule::gated_delta;
  const bool is_delta = options.rule == LinearRule::delta || options.rule == LinearRule::gated_delta;
  const bool is_kernel = options.rule == LinearRule::elu;
  Status status = first_failure({rules.check_floats("query", inputs.query), rules.check_floats("key", inputs.key),
                                 rules.check_floats("value", inputs.value), rules.check_sizes("decay", inputs.decay),
                                 rules.check_sizes("beta", inputs.beta), rules.check_sizes("state", inputs.state),
                                 check_options(rules, options), check_operands(rules, inputs, options.causal)});
  if (!status.is_ok()) return status;

  const Shape per_token{k[0], v[1], k[2], k[3]};
  const Shape state{k[0], v[1], k[3], v[3] + (is_kernel ? 1 : 0)};
  status = first_failure(
      {rules.check_present("query", inputs.query), rules.check_present("key", inputs.key),
       rules.check_present("value", inputs.value), check_decay(rules, inputs.decay, is_gated, per_token),
       check_beta(rules, inputs.beta, is_delta, per_token), rules.check_shape("state", inputs.state, state),
       rules.check_shape("output", outputs.output, {q[0], std::max(q[1], v[1]), q[2], v[3]}),
       rules.check_shape("the new state", outputs.state, state), rules.check_contiguous("query", inputs.query),
       rules.check_contiguous("key", inputs.key), rules.check_contiguous("value", inputs.value),
       rules.check_contiguous("decay", inputs.decay), rules.check_contiguous("state", inputs.state),
       rules.check_contiguous("output", outputs.output), rules.check_contiguous("the new state", outputs.state)});
  if (!status.is_ok()) return status;

  problem = {.batch = q[0],
             .query_heads = q[1],
             .state_heads = v[1],
             .query_length = q[2],
             .key_length = k[2],
             .head_dim = q[3],
             .value_dim = v[3],
             .scale = options.scale.value_or(1.0F / std::sqrt(static_cast<float>(q[3]))),
             .is_delta = is_delta,
             .is_kernel = is_kernel,
             .inputs = inputs,
             .options = options,
             .outputs = outputs};
  return {};
}

kernels::LinearTask linear_task(const LinearProblem& problem, Index group) {
  const LinearInputs& in = problem.inputs;
  const Index b = group / problem.state_heads;
  const Index g = group % problem.state_heads;
  return {.query = float_row(in.query, b, problem.head_of(in.query.shape[1], g), 0),
          .query_stride = row_stride(in.query),
          .query_head_stride = head_stride(in.query),
          .key = float_row(in.key, b, problem.head_of(in.key.shape[1], g), 0),
          .key_stride = row_stride(in.key),
          .value = float_row(in.value, b, g, 0),
          .value_stride = row_stride(in.value),
          .decay = in.decay.at(b, g, 0),
          .decay_stride = row_stride(in.decay),
          .beta = in.beta.at(b, problem.head_of(in.beta.shape[1], g), 0),
          .beta_stride = row_stride(in.beta),
          .state = in.state.at(b, g, 0),
          .state_stride = row_stride(in.state),
          .output = problem.outputs.output.at(b, problem.head_of(problem.outputs.output.shape[1], g), 0),
          .output_stride = row_stride(problem.outputs.output),
          .output_head_stride = head_stride(problem.outputs.output),
          .new_state = problem.outputs.state.at(b, g, 0),
          .new_state_stride = row_stride(problem.outputs.state),
          .heads = static_cast<int>(problem.heads_per_group()),
          .queries = static_cast<int>(problem.query_length),
          .keys = static_cast<int>(problem.key_length),
          .head_dim = static_cast<int>(problem.head_dim),
          .value_dim = static_cast<int>(problem.value_dim),
          .is_causal = problem.options.causal,
          .has_wide_decay = in.decay.shape[3] == problem.head_dim,
          .is_delta = problem.is_delta,
          .is_kernel = problem.is_kernel,
          .scale = problem.scale};
}

LinearInputs unpack_inputs(const LinearCall& call) {
  return {.query = unpack(call.query, call.query_type),
          .key = unpack(call.key, call.key_type),
          .value = unpack(call.value, call.value_type),
          .decay = unpack<const float>(call.decay),
          .beta = unpack<const float>(call.beta),
          .state = unpack<const float>(call.state)};
}

LinearOptions unpack_options(const LinearCall& call) {
  LinearOptions options{.rule = call.rule, .causal = call.causal != 0, .stop = stop_of(call.header)};
  if (!std::isnan(call.scale)) options.scale = call.scale;
  return options;
}

}  // namespace heed
