#include "operations/linear_attention.hpp"

#include <algorithm>
#include <cmath>

#include "heed/rounding.hpp"
#include "kernels/instances/extra.hpp"
#include "operations/common/kv_rows.hpp"
#include "operations/common/parallel_for.hpp"
#include "operations/common/scratch.hpp"
#include "problem/check_views.hpp"

namespace heed {
namespace {

constexpr ViewRules kRules{"linearAttention"};

// With so many tasks a worker, workers that start late still end together.
constexpr Index kTasksPerWorker = 2;

/// A well-formed call, every default filled in.
struct LinearProblem {
  Index batch;
  Index query_heads;
  Index kv_heads;
  Index query_length;
  Index key_length;
  Index head_dim;
  Index value_dim;
  float scale;
  bool is_delta;   // values are replaced by delta residuals
  bool is_kernel;  // elu

  LinearInputs inputs;
  LinearOptions options;
  LinearOutputs outputs;

  [[nodiscard]] Index heads_per_group() const { return query_heads / kv_heads; }
};

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

/// Fills `problem`, or says which rule the call breaks.
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

/// Columns [first, end) of the state of one key/value head of one batch entry.
void run_task(const LinearProblem& problem, Index group, Index first, Index end, float* scratch) {
  const LinearInputs& in = problem.inputs;
  const Index b = group / problem.kv_heads;
  const Index g = group % problem.kv_heads;
  const Index h = g * problem.heads_per_group();
  const Index beta_head = in.beta.shape[1] == 1 ? 0 : g;
  kernels::attend_linearly({.query = float_row(in.query, b, h, 0),
                            .query_stride = row_stride(in.query),
                            .query_head_stride = head_stride(in.query),
                            .key = float_row(in.key, b, g, 0),
                            .key_stride = row_stride(in.key),
                            .value = float_row(in.value, b, g, 0),
                            .value_stride = row_stride(in.value),
                            .decay = in.decay.at(b, g, 0),
                            .decay_stride = row_stride(in.decay),
                            .beta = in.beta.at(b, beta_head, 0),
                            .beta_stride = row_stride(in.beta),
                            .state = in.state.at(b, g, 0),
                            .state_stride = row_stride(in.state),
                            .output = problem.outputs.output.at(b, h, 0),
                            .output_stride = row_stride(problem.outputs.output),
                            .output_head_stride = head_stride(problem.outputs.output),
                            .new_state = problem.outputs.state.at(b, g, 0),
                            .new_state_stride = row_stride(problem.outputs.state),
                            .heads = static_cast<int>(problem.heads_per_group()),
                            .queries = static_cast<int>(problem.query_length),
                            .keys = static_cast<int>(problem.key_length),
                            .head_dim = static_cast<int>(problem.head_dim),
                            .value_dim = static_cast<int>(problem.value_dim),
                            .first_column = static_cast<int>(first),
                            .end_column = static_cast<int>(end),
                            .is_causal = problem.options.causal,
                            .has_wide_decay = in.decay.shape[3] == problem.head_dim,
                            .is_delta = problem.is_delta,
                            .is_kernel = problem.is_kernel,
                            .scale = problem.scale,
                            .scratch = scratch});
}

double count_multiplications(const LinearProblem& problem) {
  const Index of_keys = problem.key_length * problem.kv_heads * (problem.is_delta ? 2 : 1);
  const Index of_queries = problem.query_length * problem.query_heads;
  return static_cast<double>(problem.batch * (of_keys + of_queries)) *
         static_cast<double>(problem.head_dim * problem.value_dim);
}

/// Every cut computes the scores within a chunk again, so there are as few cuts as possible.
Index choose_cuts(Index panels, Index groups, int workers) {
  const Index wanted = workers > 1 ? kTasksPerWorker * workers : 1;
  return std::clamp<Index>(divide_up(wanted, groups), 1, panels);
}

}  // namespace

Status linear_attention(const LinearInputs& inputs, const LinearOptions& options, const LinearOutputs& outputs,
                        Executor& executor) {
  LinearProblem problem{};
  if (Status status = make_linear_problem(inputs, options, outputs, problem); !status.is_ok()) return status;
  const Index groups = problem.batch * problem.kv_heads;
  if (groups == 0) return {};

  const int workers = choose_workers(executor, count_multiplications(problem));
  // The columns of a state are independent.
  const Index panels = divide_up(problem.value_dim, kernels::kPanel);
  const Index panels_per_cut = divide_up(panels, choose_cuts(panels, groups, workers));
  const Index cuts = divide_up(panels, panels_per_cut);
  const Index columns = panels_per_cut * kernels::kPanel;
  const Index per_worker =
      kernels::linear_scratch_floats(kernels::kPanel, columns, problem.head_dim, problem.heads_per_group());
  const Scratch scratch(per_worker * workers);
  if (!scratch.is_available()) {
    return kRules.broken(StatusCode::memory, {"scratch memory must fit, could not get ", scratch.floats(), " floats"});
  }
  parallel_for(executor, {groups * cuts, workers, options.stop}, [&](Index task, int worker) {
    const Index first = task % cuts * columns;
    run_task(problem, task / cuts, first, std::min(first + columns, problem.value_dim),
             scratch.data() + worker * per_worker);
  });
  if (is_set(options.stop)) return {StatusCode::aborted, "linearAttention: stopped by its caller"};
  return {};
}

Status run(const LinearCall& call, Executor& executor) {
  LinearOptions options{.rule = call.rule, .causal = call.causal != 0, .stop = stop_of(call.header)};
  if (!std::isnan(call.scale)) options.scale = call.scale;
  return linear_attention({.query = unpack(call.query, call.query_type),
                           .key = unpack(call.key, call.key_type),
                           .value = unpack(call.value, call.value_type),
                           .decay = unpack<const float>(call.decay),
                           .beta = unpack<const float>(call.beta),
                           .state = unpack<const float>(call.state)},
                          options, {.output = unpack<float>(call.output), .state = unpack<float>(call.new_state)},
                          executor);
}

}  // namespace heed
