#include "operations/training/linear_vjp.hpp"

#include "kernels/instances/linear_backward.hpp"
#include "operations/common/parallel_for.hpp"
#include "operations/common/scratch.hpp"
#include "operations/common/view_rows.hpp"
#include "operations/linear_problem.hpp"

namespace heed {
namespace {

constexpr ViewRules kRules{"linearAttentionVjp"};

Status check_gradient(const char* name, const TensorView<float>& gradient, const Shape& shape, bool is_wanted) {
  Status status = first_failure({kRules.check_shape(name, gradient, shape), kRules.check_contiguous(name, gradient)});
  if (!status.is_ok() || !is_wanted) return status;
  TensorView<float> wanted = gradient;
  wanted.shape = shape;
  return kRules.check_present(name, wanted);
}

Status check(const LinearVjpInputs& inputs, const LinearProblem& problem, const LinearGradients& gradients) {
  const LinearInputs& in = inputs.forward;
  const TensorView<const float>& of_output = inputs.output_gradient;
  const Shape state{problem.batch, problem.state_heads, problem.head_dim,
                    problem.value_dim + (problem.is_kernel ? 1 : 0)};
  const Shape output{problem.batch, problem.output_heads(), problem.query_length, problem.value_dim};
  if (of_output.shape != output) {
    return kRules.broken(StatusCode::shape, {"outputGradient must be ", output, ", got ", of_output.shape});
  }
  return first_failure({kRules.check_present("outputGradient", of_output),
                        kRules.check_contiguous("outputGradient", of_output),
                        kRules.check_shape("finalStateGradient", inputs.state_gradient, state),
                        kRules.check_contiguous("finalStateGradient", inputs.state_gradient),
                        check_gradient("the query's gradient", gradients.query, in.query.shape, true),
                        check_gradient("the key's gradient", gradients.key, in.key.shape, true),
                        check_gradient("the value's gradient", gradients.value, in.value.shape, true),
                        check_gradient("the decay's gradient", gradients.decay, in.decay.shape, false),
                        check_gradient("the beta's gradient", gradients.beta, in.beta.shape, false),
                        check_gradient("the state's gradient", gradients.state, state, false)});
}

kernels::GradientRows rows_of(const TensorView<float>& view, Index batch, Index head) {
  return {view.at(batch, head, 0), row_stride(view), head_stride(view)};
}

/// The gradient of what several states share is a sum of theirs, which have scratch memory: [batch][state_heads][rows].
class SharedGradient {
 public:
  SharedGradient(const LinearProblem& problem, const TensorView<float>& gradient)
      : problem_(problem),
        gradient_(gradient),
        is_shared_(gradient.is_present() && gradient.shape[1] < problem.state_heads),
        sums_(is_shared_ ? gradient.shape[0] * problem.state_heads * size() : 0) {}

  [[nodiscard]] bool is_available() const { return sums_.is_available(); }

  [[nodiscard]] kernels::GradientRows rows(Index batch, Index state_head) const {
    if (is_shared_) return {numbers(batch, state_head), static_cast<std::ptrdiff_t>(gradient_.shape[3])};
    return rows_of(gradient_, batch, problem_.head_of(gradient_, state_head));
  }

  void add_up() const {
    if (!is_shared_) return;
    for (Index b = 0; b < gradient_.shape[0]; ++b) {
      for (Index g = 0; g < problem_.state_heads; ++g) add(b, g);
    }
  }

 private:
  [[nodiscard]] Index size() const { return gradient_.shape[2] * gradient_.shape[3]; }
  [[nodiscard]] float* numbers(Index batch, Index state_head) const {
    return sums_.data() + (batch * problem_.state_heads + state_head) * size();
  }

  /// The numbers of one state, to a gradient that the first of those that share it begins.
  void add(Index batch, Index state_head) const {
    const Index head = problem_.head_of(gradient_, state_head);
    const bool is_first = state_head == 0 || problem_.head_of(gradient_, state_head - 1) < head;
    const float* from = numbers(batch, state_head);
    for (Index t = 0; t < gradient_.shape[2]; ++t, from += gradient_.shape[3]) {
      float* const row = gradient_.at(batch, head, t);
      for (Index d = 0; d < gradient_.shape[3]; ++d) row[d] = is_first ? from[d] : row[d] + from[d];
    }
  }

  const LinearProblem& problem_;
  const TensorView<float>& gradient_;
  bool is_shared_;
  Scratch sums_;
};

}  // namespace

Status linear_attention_vjp(const LinearVjpInputs& inputs, const LinearOptions& options,
                            const LinearGradients& gradients, Executor& executor) {
  LinearProblem problem{};
  Status status = make_linear_problem(kRules, inputs.forward, options, {}, problem);
  if (status.is_ok()) status = check(inputs, problem, gradients);
  if (!status.is_ok()) return status;
  const Index groups = problem.batch * problem.state_heads;
  if (groups == 0) return {};

  // The work of the forward pass, twice, and as much again for each gradient.
  const Index rows = 6 * problem.key_length * problem.state_heads + 2 * problem.query_length * problem.output_heads();
  const int workers = choose_workers(
      executor, static_cast<double>(problem.batch * rows) * static_cast<double>(problem.head_dim * problem.value_dim));
  const Index per_worker = kernels::linear_backward_floats(kernels::kPanel, linear_task(problem, 0));
  const Scratch scratch(per_worker * workers);
  const SharedGradient query(problem, gradients.query), key(problem, gradients.key), beta(problem, gradients.beta);
  if (!scratch.is_available() || !query.is_available() || !key.is_available() || !beta.is_available()) {
    return kRules.broken(StatusCode::memory, {"scratch memory must fit, could not get ", scratch.floats(), " floats"});
  }
  parallel_for(executor, {groups, workers, options.stop}, [&](Index group, int worker) {
    const Index b = group / problem.state_heads;
    const Index g = group % problem.state_heads;
    const Index h = problem.head_of(inputs.output_gradient, g);
    kernels::linear_backward({.forward = linear_task(problem, group),
                              .output_gradient = inputs.output_gradient.at(b, h, 0),
                              .output_gradient_stride = row_stride(inputs.output_gradient),
                              .output_gradient_head_stride = head_stride(inputs.output_gradient),
                              .state_gradient = inputs.state_gradient.at(b, g, 0),
                              .state_gradient_stride = row_stride(inputs.state_gradient),
                              .query = query.rows(b, g),
                              .key = key.rows(b, g),
                              .value = rows_of(gradients.value, b, g),
                              .decay = rows_of(gradients.decay, b, g),
                              .beta = beta.rows(b, g),
                              .state = rows_of(gradients.state, b, g),
                              .scratch = scratch.data() + worker * per_worker});
  });
  if (is_set(options.stop)) return {StatusCode::aborted, "linearAttentionVjp: stopped by its caller"};
  for (const SharedGradient* one : {&query, &key, &beta}) one->add_up();
  return {};
}

Status run(const LinearVjpCall& call, Executor& executor) {
  const LinearCall& forward = call.forward.call;
  return linear_attention_vjp({.forward = unpack_inputs(forward),
                               .output_gradient = unpack<const float>(call.output_gradient),
                               .state_gradient = unpack<const float>(call.new_state_gradient)},
                              unpack_options(forward),
                              {.query = unpack<float>(call.query_gradient),
                               .key = unpack<float>(call.key_gradient),
                               .value = unpack<float>(call.value_gradient),
                               .decay = unpack<float>(call.decay_gradient),
                               .beta = unpack<float>(call.beta_gradient),
                               .state = unpack<float>(call.state_gradient)},
                              executor);
}

}  // namespace heed
