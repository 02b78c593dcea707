// The expressions of a call as the kernels are told of them.
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

/// Memory for the registers of one worker, which is at one expression at a time.
Index register_floats(const CallExpressions& expressions, int panel, int key_block);

}  // namespace heed
