// The derivatives of expressions in double precision: a program's instructions backwards, for one query and one key.
#pragma once

#include <vector>

#include "reference/expressions.hpp"

namespace heed::reference {

struct NumberGradient {
  std::size_t number;  // of Expressions::numbers
  double value;
};

struct FunctionGradients {
  double of_score = 0.0;  // or weight
  std::vector<NumberGradient> of_tables;
};

/// Gradients of score_mod or prob_mod.
FunctionGradients differentiate(const Expressions& expressions, ProgramOf which, const Place& place);

}  // namespace heed::reference
