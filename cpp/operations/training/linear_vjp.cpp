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

[[gnu::noinline]] kernels::GradientRows rows_of(const TensorView<float>& view, Index batch, Index head) {
  return {view.at(batch, head, 0), row_stride(view), head_stride(view)};
}

/// The gradient of what several states share is a sum of theirs, each of which has memory of its own. There are three
/// of them, so that inlined code would stand three times in the module.
class SharedGradient {
 public:
  [[gnu::noinline]] SharedGradient(const LinearProblem& problem, const TensorView<float>& gradient)
      : problem_(problem), gradient_(gradient), own_(gradient) {
    if (!own_.is_present() || own_.shape[1] >= problem.state_heads) return;
    own_.shape[1] = problem.state_heads;
    const auto [batches, heads, length, dim] = own_.shape;
    own_.strides = {heads * length * dim, length * dim, dim, 1};
    numbers_ = batches * heads * length * dim;
  }

  /// That the states' gradients take.
  [[nodiscard]] Index numbers() const { return numbers_; }
  void use(float* memory) {
    if (numbers_ > 0) own_.data = memory;
  }

  [[nodiscard, gnu::noinline]] kernels::GradientRows rows(Index batch, Index state_head) const {
    return rows_of(own_, batch, problem_.head_of(own_.shape[1], state_head));
  }

  [[gnu::noinline]] void add_up() const {
    if (numbers_ == 0) return;
    const auto [batches, heads, length, dim] = gradient_.shape;
    const Index parts = own_.shape[1] / heads;
    const float* from = own_.data;
    for (Index head = 0; head < batches * heads; ++head, from += parts * length * dim) {
      for (Index t = 0; t < length; ++t) {
        float* const to = gradient_.at(head / heads, head % heads, t);
        for (Index d = 0; d < dim; ++d) {
          float sum = 0.0F;
          for (Index part = 0; part < parts; ++part) sum += from[(part * length + t) * dim + d];
          to[d] = sum;
        }
      }
    }
  }

 private:
  const LinearProblem& problem_;
  const TensorView<float>& gradient_;
  TensorView<float> own_;
  Index numbers_ = 0;
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
  SharedGradient shared[] = {{problem, gradients.query}, {problem, gradients.key}, {problem, gradients.beta}};
  Index numbers = per_worker * workers;
  for (const SharedGradient& one : shared) numbers += one.numbers();
  const Scratch scratch(numbers);
  if (!scratch.is_available()) {
    return {StatusCode::memory, "linearAttentionVjp: scratch memory must fit, could not get it"};
  }
  float* memory = scratch.data() + per_worker * workers;
  for (SharedGradient& one : shared) {
    one.use(memory);
    memory += one.numbers();
  }
  parallel_for(executor, {groups, workers, options.stop}, [&](Index group, int worker) {
    const Index b = group / problem.state_heads;
    const Index g = group % problem.state_heads;
    const Index h = problem.head_of(inputs.output_gradient.shape[1], g);
    kernels::linear_backward({.forward = linear_task(problem, group),
                              .output_gradient = inputs.output_gradient.at(b, h, 0),
                              .output_gradient_stride = row_stride(inputs.output_gradient),
                              .output_gradient_head_stride = head_stride(inputs.output_gradient),
                              .state_gradient = inputs.state_gradient.at(b, g, 0),
                              .state_gradient_stride = row_stride(inputs.state_gradient),
                              .query = shared[0].rows(b, g),
                              .key = shared[1].rows(b, g),
                              .value = rows_of(gradients.value, b, g),
                              .decay = rows_of(gradients.decay, b, g),
                              .beta = shared[2].rows(b, g),
                              .state = rows_of(gradients.state, b, g),
                              .scratch = scratch.data() + worker * per_worker});
  });
  if (is_set(options.stop)) return {StatusCode::aborted, "linearAttentionVjp: stopped by its caller"};
  for (const SharedGradient& one : shared) one.add_up();
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
