// The instructions of expressions, as heed/expressions.hpp numbers and explains them.
#pragma once

#include <cstdint>

namespace heed::kernels {

enum class Op : std::uint8_t {
  constant,
  batch,
  head,
  query,
  key,
  spread,
  at,
  select,
  multiply_add,
  abs,
  floor,
  sqrt,
  exp,
  log,
  tanh,
  add,
  sub,
  mul,
  div,
  min,
  max,
  less,
  less_equal,
  equal,
};

inline constexpr int kRegistersOfKind = 256;

/// The register that a program rewrites.
inline constexpr int kRewritten = 2 * kRegistersOfKind;

}  // namespace heed::kernels
