// Steps of optimizers: the parameters after a step, and what the next one needs.
#pragma once

#include "kernels/layers/training_tasks.hpp"
#include "operations/common/rows.hpp"

namespace heed {

using kernels::AdamRule;
using kernels::SgdRule;

/// Each is [1, n]. Nothing may overlap.
struct AdamCall {
  Rows<const float> parameters, gradients, means, squares;
  AdamRule rule;
  Rows<float> next_parameters, next_means, next_squares;

  HEED_FIELDS(parameters, gradients, means, squares, rule, next_parameters, next_means, next_squares)
};

Status run(const AdamCall& call, Executor& executor, const StopFlag* stop = nullptr);

/// Absent velocities are those before the first step; absent among the results, they are not kept.
struct SgdCall {
  Rows<const float> parameters, gradients, velocities;
  SgdRule rule;
  Rows<float> next_parameters, next_velocities;

  HEED_FIELDS(parameters, gradients, velocities, rule, next_parameters, next_velocities)
};

Status run(const SgdCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
