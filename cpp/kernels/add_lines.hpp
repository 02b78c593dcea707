// Weights times values of a few rows. A kind of values, as in single_rows.hpp and half_rows.hpp, says what is done with
// whole lines.
#pragma once

#include "kernels/line_walk.hpp"

namespace heed::kernels {

/// A vector of an output += factors x numbers, of a few lines.
template <class Arch, int kLines>
[[gnu::always_inline]] inline void add_products(const Batch<Arch> (&factors)[kLines],
                                                const Batch<Arch> (&numbers)[kLines], float* output) {
  Batch<Arch> sum = Batch<Arch>::load_aligned(output);
  for (int n = 0; n < kLines; ++n) sum = multiply_add<Arch>(factors[n], numbers[n], sum);
  sum.store_aligned(output);
}

/// See AddLines: to kRows rows, kLines at once.
template <class Values, int kRows, int kLines>
[[gnu::noinline]] void add_lines(const RowSums& input, Walk<const char> walk, Walk<const float> weights, int groups) {
  using Arch = typename Values::Arch;
  const Values values;
  const RowNumbers outputs = input.outputs;
  const std::ptrdiff_t stride = input.weights.stride;
  const int dim = input.value_dim;
  for (int group = 0; group < groups; ++group) {
    const typename Values::Number* lines[kLines];
    Batch<Arch> factors[kRows][kLines];
    for (int n = 0; n < kLines; ++n) {
      lines[n] = reinterpret_cast<const typename Values::Number*>(walk.take());
      const float* const weight = weights.take();
      for (int r = 0; r < kRows; ++r) factors[r][n] = Batch<Arch>::broadcast(weight[r * stride]);
    }
    values.add(factors, lines, dim, outputs);
  }
}

/// outputs += weights x values, of kRows rows.
template <class Values, int kRows>
void add_to_rows(const RowSums& input) {
  // There are registers for eight weights.
  constexpr int most = kRows == 1 ? 4 : 2;
  add_by_turns(input, kRows == 1 && input.selects && !Values::kAreFinite,
               {sizeof(typename Values::Number), most, &add_lines<Values, kRows, 1>, &add_lines<Values, kRows, 2>,
                &add_lines<Values, kRows, most>});
}

/// outputs += weights x values, of all rows.
template <class Values>
inline void add_to_all_rows(int rows, const RowSums& input) {
  static constexpr void (*kWays[])(const RowSums&) = {&add_to_rows<Values, 1>, &add_to_rows<Values, 2>,
                                                      &add_to_rows<Values, 4>};
  add_by_ways(rows, kWays, input);
}

}  // namespace heed::kernels
