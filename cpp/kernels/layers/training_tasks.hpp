// What the kernels of training are given. Plain data; strides count numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/fields.hpp"
#include "heed/vocabulary.hpp"
#include "kernels/layers/layer_tasks.hpp"

namespace heed::kernels {

/// sums += the sum of rows.
struct RowSumTask {
  const float* rows;
  std::ptrdiff_t stride;
  int row_count;
  int length;
  float* sums;
};

/// The gradients of source and factor from that of target = activation(source) * factor.
struct PointwiseBackwardTask {
  const float* gradient;  // of the target
  std::ptrdiff_t gradient_stride;
  const float* source;
  std::ptrdiff_t source_stride;
  const float* factor;  // null: ones
  std::ptrdiff_t factor_stride;
  float* source_gradient;
  std::ptrdiff_t source_gradient_stride;
  float* factor_gradient;  // null: not asked for
  std::ptrdiff_t factor_gradient_stride;
  int row_count;
  int length;
  Activation activation;
};

/// The gradient of some rows of a norm, and what they add to those of weight and bias.
struct NormBackwardTask {
  NormTask forward;  // without target and bias
  const float* gradient;
  std::ptrdiff_t gradient_stride;
  float* source_gradient;
  std::ptrdiff_t source_gradient_stride;
  float* weight_sums;  // [length] each
  float* bias_sums;
};

/// One step of a GRU back: pointers as in GruStepTask, and the gradients of the gates' sums.
struct GruStepBackwardTask {
  const float* input[3];
  const float* hidden[3];
  const float* bias[3];
  const float* state;
  float* carry;  // the gradient of the next state; then the part of this state's that no product passes
  float* input_gradient[3];
  float* hidden_gradient[3];
  int length;
};

/// One row of logits: gradient = scale * (softmax - smoothed target).
struct CrossEntropyTask {
  const float* logits;
  int length;
  int target;
  float smoothing;
  float scale;
  float* gradient;
};

/// gradient = scale * d loss / d prediction; the kernel returns the sum of losses.
struct LossTask {
  const float* predictions;
  const float* targets;
  int length;
  float scale;
  float* gradient;
};

/// Adam (Kingma and Ba 2015) or, decoupled, AdamW (Loshchilov and Hutter 2019).
struct AdamRule {
  float learning_rate;
  float beta1;
  float beta2;
  float rest1;  // 1 - beta, of which float would lose digits
  float rest2;
  float epsilon;
  float weight_decay;
  float correction1;  // 1 - beta1^step
  float correction2;
  bool is_decoupled;  // AdamW: weight decay shrinks the parameter and stays out of the gradient

  HEED_FIELDS(learning_rate, beta1, beta2, rest1, rest2, epsilon, weight_decay, correction1, correction2, is_decoupled)
};

struct AdamTask {
  const float* parameters;
  const float* gradients;
  const float* means;
  const float* squares;
  float* next_parameters;
  float* next_means;
  float* next_squares;
  int length;
  AdamRule rule;
};

struct SgdRule {
  float learning_rate;
  float momentum;
  float weight_decay;
  bool is_nesterov;

  HEED_FIELDS(learning_rate, momentum, weight_decay, is_nesterov)
};

struct SgdTask {
  const float* parameters;
  const float* gradients;
  const float* velocities;  // null: none yet, so that the gradient is the first
  float* next_parameters;
  float* next_velocities;  // null: without momentum
  int length;
  SgdRule rule;
};

/// target = a x + b y.
struct CombineTask {
  const float* x;
  const float* y;  // null: none
  float* target;
  int length;
  float a;
  float b;
};

/// Functions of three, of two and of one number, in this order.
enum class Elementwise : std::uint32_t {
  select = 0,  // y where x is not 0, else z
  add = 1,
  sub = 2,
  mul = 3,
  div = 4,
  equal = 5,  // 1 or 0
  exp = 6,
  log = 7,
  sqrt = 8
};

/// Numbers one behind the other, or one for all; null: absent.
struct ElementwiseOperand {
  const float* numbers;
  bool is_one;
};

struct ElementwiseTask {
  ElementwiseOperand x;
  ElementwiseOperand y;
  ElementwiseOperand z;
  Elementwise function;
  float* target;
  int length;
};

/// A row: its softmax or, with the gradient of that, the gradient of the row.
struct SoftmaxTask {
  const float* source;    // the row, or its softmax
  const float* gradient;  // null: the softmax is to be made
  float* target;
  int length;
};

}  // namespace heed::kernels
