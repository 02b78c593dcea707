// The error of a score or a weight after its program, given its error before: each instruction adds its own rounding
// and propagates the errors of its operands. Values that f32 represents exactly, whole numbers and tables, have no
// error.
#pragma once

#include "heed/expressions.hpp"
#include "reference/expressions.hpp"

namespace heed::testing {

struct BoundedValue {
  double value;
  double error;
};

/// Of the program that starts at a word.
BoundedValue bound_program(const Expressions& expressions, std::int32_t start, const reference::Place& place,
                           double error);

BoundedValue bound_mod(const Expressions& expressions, ProgramOf which, const reference::Place& place, double error);

}  // namespace heed::testing
