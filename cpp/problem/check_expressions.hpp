// The rules of programs. A program that follows them stays within its memory.
#pragma once

#include "heed/expressions.hpp"
#include "heed/status.hpp"

namespace heed {

Status check_expressions(const Expressions& expressions);

/// Checks derivatives, given expressions that were checked and how many numbers the gradients of tables have.
Status check_slopes(const Expressions& expressions, const ExpressionSlopes& slopes, Index table_numbers);

}  // namespace heed
