// Steps of optimizers: the parameters after a step, and what the next one needs.
#pragma once

#include "kernels/layers/training_tasks.hpp"
#include "operations/common/rows.hpp"

namespace heed {

using kernels::AdamRule;
using kernels::SgdRule;

/// Each is [1, n]. Nothing may overlap.
struct AdamInputs {
  Rows<const float> parameters, gradients, means, squares;
};
struct AdamOutputs {
  Rows<float> parameters, means, squares;
};
Status adam_step(const AdamInputs& inputs, const AdamRule& rule, const AdamOutputs& outputs, Executor& executor,
                 const StopFlag* stop = nullptr);

/// Absent velocities are those before the first step; absent among the outputs, they are not kept.
struct SgdInputs {
  Rows<const float> parameters, gradients, velocities;
};
struct SgdOutputs {
  Rows<float> parameters, velocities;
};
Status sgd_step(const SgdInputs& inputs, const SgdRule& rule, const SgdOutputs& outputs, Executor& executor,
                const StopFlag* stop = nullptr);

struct AdamCall {
  CallHeader header;
  PackedView parameters;
  PackedView gradients;
  PackedView means;
  PackedView squares;
  float learning_rate;
  float beta1;
  float beta2;
  float rest1;
  float rest2;
  float epsilon;
  float weight_decay;
  float correction1;
  float correction2;
  std::int32_t is_decoupled;  // 1: AdamW, 0: Adam
  PackedView next_parameters;
  PackedView next_means;
  PackedView next_squares;

  HEED_FIELDS(header, parameters, gradients, means, squares, learning_rate, beta1, beta2, rest1, rest2, epsilon,
              weight_decay, correction1, correction2, is_decoupled, next_parameters, next_means, next_squares)
};

Status run(const AdamCall& call, Executor& executor);

struct SgdCall {
  CallHeader header;
  PackedView parameters;
  PackedView gradients;
  PackedView velocities;
  float learning_rate;
  float momentum;
  float weight_decay;
  std::int32_t is_nesterov;
  PackedView next_parameters;
  PackedView next_velocities;

  HEED_FIELDS(header, parameters, gradients, velocities, learning_rate, momentum, weight_decay, is_nesterov,
              next_parameters, next_velocities)
};

Status run(const SgdCall& call, Executor& executor);

}  // namespace heed
