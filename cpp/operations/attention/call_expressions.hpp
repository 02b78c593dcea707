// The expressions of a call in the form that kernels take.
#pragma once

#include "kernels/task/expression.hpp"
#include "problem/attention_problem.hpp"

namespace heed {

/// A program is null where there is none.
struct CallExpressions {
  kernels::Expression score;
  kernels::Expression mask;
  kernels::Expression weight;
};

CallExpressions describe_expressions(const Expressions& expressions);

/// The floats that the registers of one worker take; it evaluates one expression at a time.
Index register_floats(const CallExpressions& expressions, int panel, int key_block);

}  // namespace heed
