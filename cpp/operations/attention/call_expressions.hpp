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

/// The program that starts at a word of the call's; 0: there is none.
inline kernels::Expression describe_program(const Expressions& expressions, std::int32_t start) {
  const std::int32_t* const words = expressions.words;
  return {.program = start == 0 ? nullptr : reinterpret_cast<const kernels::Program*>(words + start),
          .tables = reinterpret_cast<const kernels::Table*>(words + kPrograms + 1),
          .numbers = expressions.numbers};
}

CallExpressions describe_expressions(const Expressions& expressions);

/// The floats that the registers of one worker take; it evaluates one expression at a time.
Index register_floats(const CallExpressions& expressions, int panel, int key_block);

}  // namespace heed
