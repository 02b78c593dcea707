#include "operations/training/optimizers.hpp"

#include "kernels/instances/training.hpp"
#include "operations/training/vectors.hpp"

namespace heed {
namespace {

constexpr RowRules kAdamRules{"adam"};
constexpr RowRules kSgdRules{"sgd"};

}  // namespace

Status run(const AdamCall& call, Executor& executor, const StopFlag* stop) {
  const Index length = call.parameters.length;
  const auto check = [&](const char* name, const auto& row) { return kAdamRules.check(name, row, 1, length); };
  const Status status = first_failure({check("parameters", call.parameters), check("gradients", call.gradients),
                                       check("means", call.means), check("squares", call.squares),
                                       check("nextParameters", call.next_parameters),
                                       check("nextMeans", call.next_means), check("nextSquares", call.next_squares)});
  if (!status.is_ok()) return status;
  const Vectors vectors{.length = length, .operation = kAdamRules.operation, .stop = stop};
  return for_each_part(executor, vectors, [&](Index first, int count) {
    kernels::adam_step({.parameters = call.parameters.data + first,
                        .gradients = call.gradients.data + first,
                        .means = call.means.data + first,
                        .squares = call.squares.data + first,
                        .next_parameters = call.next_parameters.data + first,
                        .next_means = call.next_means.data + first,
                        .next_squares = call.next_squares.data + first,
                        .length = count,
                        .rule = call.rule});
  });
}

Status run(const SgdCall& call, Executor& executor, const StopFlag* stop) {
  const Index length = call.parameters.length;
  const auto check = [&](const char* name, const auto& row) { return kSgdRules.check(name, row, 1, length); };
  const Status status = first_failure({check("parameters", call.parameters), check("gradients", call.gradients),
                                       kSgdRules.check_if_present("velocities", call.velocities, 1, length),
                                       check("nextParameters", call.next_parameters),
                                       kSgdRules.check_if_present("nextVelocities", call.next_velocities, 1, length)});
  if (!status.is_ok()) return status;
  const Vectors vectors{.length = length, .operation = kSgdRules.operation, .stop = stop};
  return for_each_part(executor, vectors, [&](Index first, int count) {
    kernels::sgd_step({.parameters = call.parameters.data + first,
                       .gradients = call.gradients.data + first,
                       .velocities = part_of(call.velocities, first),
                       .next_parameters = call.next_parameters.data + first,
                       .next_velocities = part_of(call.next_velocities, first),
                       .length = count,
                       .rule = call.rule});
  });
}

}  // namespace heed
