// Steps of optimizers, number by number, as PyTorch computes them, and sums of rows.
#pragma once

#include <cmath>

#include "kernels/layers/training_tasks.hpp"
#include "kernels/simd/transpose.hpp"

namespace heed::kernels {

/// Calls body(i, count) for every vector of a row.
template <class Body>
[[gnu::always_inline]] inline void for_each_vector(int length, Body body) {
  for (int i = 0; i < length; i += kLanes) body(i, length - i < kLanes ? length - i : kLanes);
}

void adam_step(const AdamTask& task) {
  const AdamRule& rule = task.rule;
  const Batch decay(rule.is_decoupled ? 1.0F - rule.learning_rate * rule.weight_decay : 1.0F);
  const Batch penalty(rule.is_decoupled ? 0.0F : rule.weight_decay);
  const Batch beta1(rule.beta1), rest1(rule.rest1), beta2(rule.beta2), rest2(rule.rest2);
  const Batch step(rule.learning_rate / rule.correction1), epsilon(rule.epsilon);
  const Batch root(std::sqrt(rule.correction2));
  for_each_vector(task.length, [&](int i, int count) {
    const Batch parameter = load_some(task.parameters + i, count);
    const Batch gradient = multiply_add(parameter, penalty, load_some(task.gradients + i, count));
    const Batch mean = multiply_add(load_some(task.means + i, count), beta1, gradient * rest1);
    const Batch square = multiply_add(load_some(task.squares + i, count), beta2, gradient * gradient * rest2);
    const Batch size = xsimd::sqrt(square) / root + epsilon;
    store_some(parameter * decay - step * (mean / size), task.next_parameters + i, count);
    store_some(mean, task.next_means + i, count);
    store_some(square, task.next_squares + i, count);
  });
}

void sgd_step(const SgdTask& task) {
  const SgdRule& rule = task.rule;
  const Batch momentum(rule.momentum), rate(rule.learning_rate), penalty(rule.weight_decay);
  for_each_vector(task.length, [&](int i, int count) {
    const Batch parameter = load_some(task.parameters + i, count);
    Batch change = multiply_add(parameter, penalty, load_some(task.gradients + i, count));
    if (task.next_velocities != nullptr) {
      const Batch velocity =
          task.velocities == nullptr ? change : multiply_add(load_some(task.velocities + i, count), momentum, change);
      store_some(velocity, task.next_velocities + i, count);
      change = rule.is_nesterov ? multiply_add(velocity, momentum, change) : velocity;
    }
    store_some(parameter - rate * change, task.next_parameters + i, count);
  });
}

void combine(const CombineTask& task) {
  const Batch a(task.a), b(task.b);
  for_each_vector(task.length, [&](int i, int count) {
    const Batch x = load_some(task.x + i, count) * a;
    store_some(task.y == nullptr ? x : multiply_add(load_some(task.y + i, count), b, x), task.target + i, count);
  });
}

void add_rows(const RowSumTask& task) {
  for_each_vector(task.length, [&](int i, int count) {
    Batch sum = load_some(task.sums + i, count);
    for (int row = 0; row < task.row_count; ++row) sum += load_some(task.rows + row * task.stride + i, count);
    store_some(sum, task.sums + i, count);
  });
}

/// sums = the largest of them and the numbers of rows; NaN where one is NaN.
void max_rows(const RowSumTask& task) {
  for_each_vector(task.length, [&](int i, int count) {
    Batch most = load_some(task.sums + i, count);
    for (int row = 0; row < task.row_count; ++row) {
      const Batch number = load_some(task.rows + row * task.stride + i, count);
      most = xsimd::select((number > most) | xsimd::isnan(number), number, most);
    }
    store_some(most, task.sums + i, count);
  });
}

}  // namespace heed::kernels
