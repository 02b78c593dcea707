#include "operations/training/optimizers.hpp"

#include "kernels/instances/training.hpp"
#include "operations/training/vectors.hpp"

namespace heed {
namespace {

constexpr RowRules kAdamRules{"adam"};
constexpr RowRules kSgdRules{"sgd"};

}  // namespace

Status adam_step(const AdamInputs& inputs, const AdamRule& rule, const AdamOutputs& outputs, Executor& executor,
                 const StopFlag* stop) {
  const Index length = inputs.parameters.length;
  const auto check = [&](const char* name, const auto& row) { return kAdamRules.check(name, row, 1, length); };
  const Status status = first_failure({check("parameters", inputs.parameters), check("gradients", inputs.gradients),
                                       check("means", inputs.means), check("squares", inputs.squares),
                                       check("nextParameters", outputs.parameters), check("nextMeans", outputs.means),
                                       check("nextSquares", outputs.squares)});
  if (!status.is_ok()) return status;
  const Vectors vectors{.length = length, .operation = kAdamRules.operation, .stop = stop};
  return for_each_part(executor, vectors, [&](Index first, int count) {
    kernels::adam_step({.parameters = inputs.parameters.data + first,
                        .gradients = inputs.gradients.data + first,
                        .means = inputs.means.data + first,
                        .squares = inputs.squares.data + first,
                        .next_parameters = outputs.parameters.data + first,
                        .next_means = outputs.means.data + first,
                        .next_squares = outputs.squares.data + first,
                        .length = count,
                        .rule = rule});
  });
}

Status sgd_step(const SgdInputs& inputs, const SgdRule& rule, const SgdOutputs& outputs, Executor& executor,
                const StopFlag* stop) {
  const Index length = inputs.parameters.length;
  const auto check = [&](const char* name, const auto& row) { return kSgdRules.check(name, row, 1, length); };
  const auto check_if = [&](const char* name, const auto& row) {
    return row.is_present() ? check(name, row) : Status{};
  };
  const Status status =
      first_failure({check("parameters", inputs.parameters), check("gradients", inputs.gradients),
                     check_if("velocities", inputs.velocities), check("nextParameters", outputs.parameters),
                     check_if("nextVelocities", outputs.velocities)});
  if (!status.is_ok()) return status;
  const Vectors vectors{.length = length, .operation = kSgdRules.operation, .stop = stop};
  return for_each_part(executor, vectors, [&](Index first, int count) {
    kernels::sgd_step({.parameters = inputs.parameters.data + first,
                       .gradients = inputs.gradients.data + first,
                       .velocities = part_of(inputs.velocities, first),
                       .next_parameters = outputs.parameters.data + first,
                       .next_velocities = part_of(outputs.velocities, first),
                       .length = count,
                       .rule = rule});
  });
}

Status run(const AdamCall& call, Executor& executor) {
  return adam_step({.parameters = unpack_rows<const float>(call.parameters),
                    .gradients = unpack_rows<const float>(call.gradients),
                    .means = unpack_rows<const float>(call.means),
                    .squares = unpack_rows<const float>(call.squares)},
                   {.learning_rate = call.learning_rate,
                    .beta1 = call.beta1,
                    .beta2 = call.beta2,
                    .rest1 = call.rest1,
                    .rest2 = call.rest2,
                    .epsilon = call.epsilon,
                    .weight_decay = call.weight_decay,
                    .correction1 = call.correction1,
                    .correction2 = call.correction2,
                    .is_decoupled = call.is_decoupled != 0},
                   {.parameters = unpack_rows<float>(call.next_parameters),
                    .means = unpack_rows<float>(call.next_means),
                    .squares = unpack_rows<float>(call.next_squares)},
                   executor, stop_of(call.header));
}

Status run(const SgdCall& call, Executor& executor) {
  return sgd_step(
      {.parameters = unpack_rows<const float>(call.parameters),
       .gradients = unpack_rows<const float>(call.gradients),
       .velocities = unpack_rows<const float>(call.velocities)},
      {.learning_rate = call.learning_rate,
       .momentum = call.momentum,
       .weight_decay = call.weight_decay,
       .is_nesterov = call.is_nesterov != 0},
      {.parameters = unpack_rows<float>(call.next_parameters), .velocities = unpack_rows<float>(call.next_velocities)},
      executor, stop_of(call.header));
}

}  // namespace heed
