#include "problem/check_pointwise.hpp"

namespace heed {
namespace {

Status check_repeated(const RowRules& rules, const char* name, const Rows<const float>& rows, Index count,
                      Index length) {
  if (!rows.is_present()) return {};
  if (rows.length != length || (count > 0 && (rows.count <= 0 || count % rows.count != 0))) {
    return rules.broken(StatusCode::shape,
                        {name, " must have rows of ", length, " numbers, a number of them that divides ", count,
                         ", got ", rows.count, " of ", rows.length});
  }
  return rules.check_sizes(name, rows);
}

}  // namespace

Status check_pointwise(const RowRules& rules, const Pointwise& rule, Index count, Index length) {
  if (rule.activation > Activation::sigmoid) {
    return rules.broken(StatusCode::option,
                        {"activation must be one of those known, got number ", static_cast<Index>(rule.activation)});
  }
  return first_failure({check_repeated(rules, "factor", rule.factor, count, length),
                        check_repeated(rules, "addend", rule.addend, count, length)});
}

}  // namespace heed
