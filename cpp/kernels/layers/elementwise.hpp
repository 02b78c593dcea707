// Elementwise functions. exp and log are float's of the standard library, as those of losses.
#pragma once

#include <cmath>

#include "kernels/layers/optimizers.hpp"
#include "kernels/layers/training_tasks.hpp"

namespace heed::kernels {

inline Batch elements_of(const ElementwiseOperand& operand, int i, int count) {
  if (operand.numbers != nullptr && !operand.is_one) return load_some(operand.numbers + i, count);
  const Batch each(operand.numbers == nullptr ? 0.0F : *operand.numbers);
  return each;
}

template <class Function>
Batch each_of(Batch x, Function function) {
  alignas(kScratchAlignment) float numbers[kLanes];
  x.store_aligned(numbers);
  for (float& number : numbers) number = function(number);
  return Batch::load_aligned(numbers);
}

void elementwise(const ElementwiseTask& task) {
  const Batch zero(0.0F), one(1.0F);
  for_each_vector(task.length, [&](int i, int count) {
    const Batch x = elements_of(task.x, i, count), y = elements_of(task.y, i, count);
    Batch made = zero;
    switch (task.function) {
      case Elementwise::select:
        made = xsimd::select(x != zero, y, elements_of(task.z, i, count));
        break;
      case Elementwise::add:
        made = x + y;
        break;
      case Elementwise::sub:
        made = x - y;
        break;
      case Elementwise::mul:
        made = x * y;
        break;
      case Elementwise::div:
        made = x / y;
        break;
      case Elementwise::equal:
        made = xsimd::select(x == y, one, zero);
        break;
      case Elementwise::exp:
        made = each_of(x, [](float number) { return std::exp(number); });
        break;
      case Elementwise::log:
        made = each_of(x, [](float number) { return std::log(number); });
        break;
      case Elementwise::sqrt:
        made = xsimd::sqrt(x);
        break;
    }
    store_some(made, task.target + i, count);
  });
}

}  // namespace heed::kernels
