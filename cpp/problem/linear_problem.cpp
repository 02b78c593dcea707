#include "problem/linear_problem.hpp"

#include <cmath>

#include "problem/check_views.hpp"

namespace heed {
namespace {

constexpr ViewRules kRules{"linearAttention"};

Status wrong_shape(const char* rule, const LinearInputs& in) {
  return kRules.broken(StatusCode::shape,
                       {rule, ", got query ", in.query.shape, " key ", in.key.shape, " value ", in.value.shape});
}

Status check_operands(const LinearInputs& in, bool is_causal) {
  const Shape& q = in.query.shape;
  const Shape& k = in.key.shape;
  const Shape& v = in.value.shape;
  if (q[1] == 0 || k[1] == 0) return wrong_shape("query, key and value must have at least one head", in);
  if (q[3] == 0) return wrong_shape("head_dim must be at least 1", in);
  if (v[3] == 0) return wrong_shape("value_dim must be at least 1", in);
  if (q[0] != k[0] || q[0] != v[0]) return wrong_shape("query, key and value must have the same batch", in);
  if (q[3] != k[3]) return wrong_shape("query and key must have the same head_dim", in);
  if (k[1] != v[1]) return wrong_shape("key and value heads must match", in);
  if (k[2] != v[2]) return wrong_shape("key and value lengths must match", in);
  if (q[1] % k[1] != 0) return wrong_shape("query heads must be a multiple of key and value heads", in);
  if (is_causal && q[2] != k[2]) return wrong_shape("query and key lengths must match unless causal is false", in);
  return {};
}

Status check_decay(const TensorView<const float>& decay, bool is_gated, const Shape& key) {
  if (!is_gated) {
    return decay.is_present() ? kRules.broken(StatusCode::option, {"decay is for the gated rules alone"}) : Status();
  }
  const Shape wide = key;
  const Shape narrow{key[0], key[1], key[2], 1};
  const bool has_elements = std::ranges::find(key, 0) == key.end();
  if (!decay.is_present() && has_elements) {
    return kRules.broken(StatusCode::option, {"the gated rules need decay"});
  }
  if (!decay.is_present() || decay.shape == wide || decay.shape == narrow) return {};
  return kRules.broken(StatusCode::shape, {"decay must be ", narrow, " or ", wide, ", got ", decay.shape});
}

Status check_beta(const TensorView<const float>& beta, bool is_delta, const Shape& key) {
  if (!beta.is_present()) return {};
  if (!is_delta) return kRules.broken(StatusCode::option, {"beta is for the delta rules alone"});
  const Shape per_head{key[0], key[1], key[2], 1};
  const Shape shared{key[0], 1, key[2], 1};
  if (beta.shape == per_head || beta.shape == shared) return {};
  return kRules.broken(StatusCode::shape, {"beta must be ", per_head, " or ", shared, ", got ", beta.shape});
}

Status check_options(const LinearOptions& options) {
  if (options.rule > LinearRule::elu) {
    return kRules.broken(StatusCode::option, {"rule must be linear, gated, delta, gated_delta or elu"});
  }
  if (!options.causal && options.rule != LinearRule::elu) {
    return kRules.broken(StatusCode::option, {"causal may be false for rule elu alone"});
  }
  if (!options.scale) return {};
  if (options.rule == LinearRule::elu) {
    return kRules.broken(StatusCode::option, {"scale has no meaning for rule elu, which divides it out"});
  }
  if (std::isfinite(*options.scale)) return {};
  return kRules.broken(StatusCode::option, {"scale must be a finite number"});
}

}  // namespace

Status make_linear_problem(const LinearInputs& inputs, const LinearOptions& options, const LinearOutputs& outputs,
                           LinearProblem& problem) {
  const Shape& q = inputs.query.shape;
  const Shape& k = inputs.key.shape;
  const Shape& v = inputs.value.shape;
  const bool is_gated = options.rule == LinearRule::gated || options.rule == LinearRule::gated_delta;
  const bool is_delta = options.rule == LinearRule::delta || options.rule == LinearRule::gated_delta;
  const bool is_kernel = options.rule == LinearRule::elu;
  Status status = first_failure({kRules.check_sizes("query", inputs.query), kRules.check_sizes("key", inputs.key),
                                 kRules.check_sizes("value", inputs.value), kRules.check_sizes("decay", inputs.decay),
                                 kRules.check_sizes("beta", inputs.beta), kRules.check_sizes("state", inputs.state),
                                 check_options(options), check_operands(inputs, options.causal)});
  if (!status.is_ok()) return status;

  const Shape state{k[0], k[1], k[3], v[3] + (is_kernel ? 1 : 0)};
  status = first_failure(
      {kRules.check_present("query", inputs.query), kRules.check_present("key", inputs.key),
       kRules.check_present("value", inputs.value), check_decay(inputs.decay, is_gated, k),
       check_beta(inputs.beta, is_delta, k), kRules.check_shape("state", inputs.state, state),
       kRules.check_shape("output", outputs.output, {q[0], q[1], q[2], v[3]}),
       kRules.check_shape("the new state", outputs.state, state), kRules.check_contiguous("query", inputs.query),
       kRules.check_contiguous("key", inputs.key), kRules.check_contiguous("value", inputs.value),
       kRules.check_contiguous("decay", inputs.decay), kRules.check_contiguous("state", inputs.state),
       kRules.check_contiguous("output", outputs.output), kRules.check_contiguous("the new state", outputs.state)});
  if (!status.is_ok()) return status;

  problem = {.batch = q[0],
             .query_heads = q[1],
             .kv_heads = k[1],
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

}  // namespace heed
