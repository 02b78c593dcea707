// The rules of what follows a product, or stands alone.
#pragma once

#include "heed/pointwise.hpp"
#include "problem/check_rows.hpp"

namespace heed {

/// Checks the rule for `count` rows of `length` numbers.
Status check_pointwise(const RowRules& rules, const Pointwise& rule, Index count, Index length);

}  // namespace heed
