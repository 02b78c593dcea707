// What operations of stored weights share: rules, and quantized rows.
#pragma once

#include "kernels/instances/narrow.hpp"
#include "operations/common/parallel_for.hpp"
#include "operations/common/rows.hpp"
#include "operations/common/scratch.hpp"

namespace heed {

/// Checks that a format is known and that rows of so many numbers have it.
inline Status check_format(const RowRules& rules, WeightFormat format, Index inputs) {
  if (!is_known(format)) {
    return rules.broken(StatusCode::option,
                        {"format must be one of those known, got number ", static_cast<Index>(format)});
  }
  const Index numbers = kernels::block_of(format).numbers;
  if (inputs % numbers == 0) return {};
  return rules.broken(StatusCode::shape,
                      {"weights of this format must have a multiple of ", numbers, " inputs, got ", inputs});
}

inline const std::uint8_t* bytes_of_weights(const float* weights) {
  return reinterpret_cast<const std::uint8_t*>(weights);
}

}  // namespace heed
