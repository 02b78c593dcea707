// Weights times values in decode. F32Values and F16Values say how rows of V are added.
#pragma once

#include "kernels/decode/interleave.hpp"

namespace heed::kernels {

/// A vector of an output += factors x numbers of a few rows of V.
template <int kValues>
[[gnu::always_inline]] inline void add_products(const Batch (&factors)[kValues], const Batch (&numbers)[kValues],
                                                float* output) {
  Batch sum = Batch::load_aligned(output);
  for (int n = 0; n < kValues; ++n) sum = multiply_add(factors[n], numbers[n], sum);
  sum.store_aligned(output);
}

/// See AddRows: to kRows outputs, kValues rows of V at once.
template <class Values, int kRows, int kValues>
[[gnu::noinline]] void add_value_rows(const ValueSums& input, InterleavedReader<const char> reader,
                                      InterleavedReader<const float> weights, int groups) {
  const Values values;
  const StridedRows outputs = input.outputs;
  const std::ptrdiff_t stride = input.weights.stride;
  const int dim = input.value_dim;
  for (int group = 0; group < groups; ++group) {
    const typename Values::Number* rows[kValues];
    Batch factors[kRows][kValues];
    for (int n = 0; n < kValues; ++n) {
      rows[n] = reinterpret_cast<const typename Values::Number*>(reader.take());
      const float* const weight = weights.take();
      for (int r = 0; r < kRows; ++r) factors[r][n] = Batch::broadcast(weight[r * stride]);
    }
    values.add(factors, rows, dim, outputs);
  }
}

/// outputs += weights x values, for kRows rows.
template <class Values, int kRows>
void add_values_to_rows(const ValueSums& input) {
  // There are registers for eight weights.
  constexpr int most = kRows == 1 ? 4 : 2;
  add_interleaved(input, kRows == 1 && input.selects && !Values::kAreFinite,
                  {sizeof(typename Values::Number), most, &add_value_rows<Values, kRows, 1>,
                   &add_value_rows<Values, kRows, 2>, &add_value_rows<Values, kRows, most>});
}

/// outputs += weights x values, for all rows.
template <class Values>
inline void add_values_to_all(int rows, const ValueSums& input) {
  static constexpr void (*kLoops[])(const ValueSums&) = {&add_values_to_rows<Values, 1>, &add_values_to_rows<Values, 2>,
                                                         &add_values_to_rows<Values, 4>};
  add_by_row_count(rows, kLoops, input);
}

}  // namespace heed::kernels
