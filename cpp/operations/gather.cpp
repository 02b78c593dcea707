#include "operations/gather.hpp"

#include <algorithm>

namespace heed {
namespace {

constexpr RowRules kRules{"embedding"};

}  // namespace

Status gather_rows(const Rows<const float>& table, const std::int32_t* indices, const Rows<float>& output) {
  Status status =
      first_failure({kRules.check_sizes("table", table), kRules.check("output", output, output.count, table.length)});
  if (!status.is_ok()) return status;
  for (Index i = 0; i < output.count; ++i) {
    if (indices[i] >= 0 && indices[i] < table.count) continue;
    return kRules.broken(StatusCode::option, {"indices must be rows of the table, which has ", table.count, ", number ",
                                              i, " is ", Index{indices[i]}});
  }
  for (Index i = 0; i < output.count; ++i) std::copy_n(table.row(indices[i]), table.length, output.row(i));
  return {};
}

Status run(const GatherCall& call, Executor& /*executor*/) {
  return gather_rows(unpack_rows<const float>(call.table), pointer<const std::int32_t>(call.indices),
                     unpack_rows<float>(call.output));
}

}  // namespace heed
