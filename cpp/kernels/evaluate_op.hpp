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
  neg,
  abs,
  floor,
  sqrt,
  exp,
  log,
  tanh,
  negate,
  add,
  sub,
  mul,
  div,
  floor_div,
  mod,
  min,
  max,
  less,
  less_equal,
  equal,
  not_equal,
};

inline constexpr int kRegistersOfKind = 256;
inline constexpr int kMostTiles = 24;

}  // namespace heed::kernels
