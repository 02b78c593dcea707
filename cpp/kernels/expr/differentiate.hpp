// The backward pass through the caller's functions of scores and weights, whose derivatives are programs too. They
// are compiled apart from the other kernels.
#pragma once

#include "kernels/task/key_block.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// What a function takes of a panel and a KV block.
struct FunctionInput {
  const Panel& panel;
  const AttentionTask& task;
  const KeyBlock& keys;
  const float* numbers;  // [lines][panel], scores or weights
};

/// Writes what the function makes of the numbers.
void apply_function(const Expression& function, const FunctionInput& input, float* made);

/// gradients *= slope. A gradient of zero, as that of a masked pair, stays zero whatever the slope.
void multiply_by_slope(const Expression& slope, const FunctionInput& input, float* gradients);

/// Adds the gradients of what is read from a table, given those of what the function made. `indices` has room for
/// [lines][panel].
void add_table_gradients(const TableSlope& read, const FunctionInput& input, const float* gradients, float* indices,
                         float* sums);

}  // namespace heed::kernels
