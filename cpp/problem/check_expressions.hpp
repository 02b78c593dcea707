// The rules of programs. A program that follows them stays within its memory.
#pragma once

#include "heed/expressions.hpp"
#include "heed/status.hpp"

namespace heed {

Status check_expressions(const Expressions& expressions);

}  // namespace heed
