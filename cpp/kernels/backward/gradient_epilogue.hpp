// What completes the gradient of a query or a key beside its products.
#pragma once

#include "kernels/backward/backward_task.hpp"
#include "kernels/backward/row_delta.hpp"

namespace heed::kernels {

[[gnu::noinline]] void add_row(KvRow source, float factor, int dim, float* target) {
  if (factor == 0.0F) return;
  for (int i = 0; i < dim; i += kLanes) {
    const int count = dim - i < kLanes ? dim - i : kLanes;
    const Batch sum = load_some(target + i, count);
    store_some(multiply_add(load_widened(source, i, count), Batch(factor), sum), target + i, count);
  }
}

void finish_gradient(const GradientEpilogue& epilogue, float of_gate, int dim, float* gradient) {
  if (epilogue.along.data) {
    const float product = dot_rows(epilogue.along, {gradient, DType::f32}, dim);
    add_row(epilogue.along, -product * epilogue.inverse_length * epilogue.inverse_length, dim, gradient);
  }
  if (epilogue.gate) add_row({epilogue.gate, DType::f32}, of_gate, dim, gradient);
}

}  // namespace heed::kernels
