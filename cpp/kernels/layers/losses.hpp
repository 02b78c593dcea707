// Losses with their gradients, in one pass. Logarithms and exponentials are float's: those of double bring tables of
// 6 kB, and what they are taken of is no more exact.
#pragma once

#include <cmath>
#include <numbers>

#include "kernels/layers/activations.hpp"
#include "kernels/layers/training_tasks.hpp"
#include "kernels/simd/transpose.hpp"

namespace heed::kernels {

/// Returns the loss, lse(x) - (1 - s) x[target] - s mean(x) with the smoothing s, and writes its gradient,
/// softmax(x) - (1 - s) onehot(target) - s / length, times `scale`.
float cross_entropy(const CrossEntropyTask& task) {
  const auto& [logits, length, target, smoothing, scale, gradient] = task;
  float most = logits[0];
  for (int i = 1; i < length; ++i) most = logits[i] > most ? logits[i] : most;
  const Exp2 exp2(kExp2OfResults);
  const Batch highest(most), to_binary(std::numbers::log2e_v<float>);
  Batch sums(0.0F);
  double total = 0.0;
  for (int i = 0; i < length; i += kLanes) {
    const int count = length - i < kLanes ? length - i : kLanes;
    const Batch power = exp2((load_some(logits + i, count) - highest) * to_binary);
    store_some(power, gradient + i, count);
    if (count == kLanes) {
      sums += power;
    } else {
      for (int k = i; k < length; ++k) total += static_cast<double>(gradient[k]);
    }
  }
  total += static_cast<double>(xsimd::reduce_add(sums));
  const Batch factor(static_cast<float>(static_cast<double>(scale) / total));
  const Batch uniform(scale * smoothing / static_cast<float>(length));
  double logit_sum = 0.0;
  for (int i = 0; i < length; i += kLanes) {
    const int count = length - i < kLanes ? length - i : kLanes;
    store_some(multiply_add(load_some(gradient + i, count), factor, -uniform), gradient + i, count);
    if (smoothing > 0.0F) logit_sum += static_cast<double>(xsimd::reduce_add(load_some(logits + i, count)));
  }
  gradient[target] -= scale * (1.0F - smoothing);
  const double lse = static_cast<double>(most) + static_cast<double>(std::log(static_cast<float>(total)));
  return static_cast<float>(lse - (1.0 - static_cast<double>(smoothing)) * static_cast<double>(logits[target]) -
                            static_cast<double>(smoothing) * logit_sum / static_cast<double>(length));
}

double squared_error(const LossTask& task) {
  double sum = 0.0;
  for (int i = 0; i < task.length; ++i) {
    const float difference = task.predictions[i] - task.targets[i];
    task.gradient[i] = 2.0F * task.scale * difference;
    sum += static_cast<double>(difference) * static_cast<double>(difference);
  }
  return sum;
}

/// Predictions are logits: max(x, 0) - x t + log(1 + exp(-|x|)).
double binary_cross_entropy(const LossTask& task) {
  double sum = 0.0;
  for (int i = 0; i < task.length; ++i) {
    const double x = task.predictions[i], target = task.targets[i];
    const float small = std::exp(-std::abs(task.predictions[i]));
    const double power = small;
    const double chance = (x < 0.0 ? power : 1.0) / (1.0 + power);
    task.gradient[i] = static_cast<float>(static_cast<double>(task.scale) * (chance - target));
    sum += (x > 0.0 ? x : 0.0) - x * target + static_cast<double>(std::log1p(small));
  }
  return sum;
}

}  // namespace heed::kernels
