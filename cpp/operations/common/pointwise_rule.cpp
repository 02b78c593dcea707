#include "operations/common/pointwise_rule.hpp"

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

kernels::RepeatedRows repeated(const Rows<const float>& rows, Index first_column) {
  if (!rows.is_present()) return {nullptr, 0, 1};
  return {rows.data + first_column, stride_of(rows), static_cast<std::ptrdiff_t>(rows.count)};
}

}  // namespace

Status check_pointwise(const RowRules& rules, const Pointwise& rule, Index count, Index length) {
  if (!is_known(rule.activation)) {
    return rules.broken(StatusCode::option,
                        {"activation must be one of those known, got number ", static_cast<Index>(rule.activation)});
  }
  return first_failure({check_repeated(rules, "factor", rule.factor, count, length),
                        check_repeated(rules, "addend", rule.addend, count, length)});
}

kernels::PointwiseTask pointwise_task(const Pointwise& rule, Index first_row, Index row_count, Index first_column,
                                      Index columns) {
  kernels::PointwiseTask task{};
  task.first_row = static_cast<std::ptrdiff_t>(first_row);
  task.row_count = static_cast<int>(row_count);
  task.length = static_cast<int>(columns);
  task.activation = rule.activation;
  task.bias = rule.bias == nullptr ? nullptr : rule.bias + first_column;
  task.factor = repeated(rule.factor, first_column);
  task.addend = repeated(rule.addend, first_column);
  return task;
}

}  // namespace heed
