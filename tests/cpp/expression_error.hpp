// How wrong a score or a weight may be after its program, given how wrong it was before: each instruction's own
// rounding, and what it makes of those of its operands. Values that single precision has exactly, whole numbers and
// tables, have no error.
#pragma once

#include "heed/expressions.hpp"
#include "reference/expressions.hpp"

namespace heed::testing {

struct BoundedValue {
  double value;
  double error;
};

BoundedValue bound_mod(const Expressions& expressions, ProgramOf which, const reference::Place& place, double error);

}  // namespace heed::testing
