#include "operations/gather.hpp"

#include <algorithm>

namespace heed {
namespace {

constexpr RowRules kRules{"embedding"};

}  // namespace

Status run(const GatherCall& call, Executor& /*executor*/, const StopFlag* /*stop*/) {
  const auto& [table, indices, output] = call;
  Status status =
      first_failure({kRules.check_sizes("table", table), kRules.check("output", output, output.count, table.length)});
  if (!status.is_ok()) return status;
  const Index count = output.count;
  for (Index i = 0; i < count; ++i) {
    if (indices[i] >= 0 && indices[i] < table.count) continue;
    return kRules.broken(StatusCode::option, {"indices must be rows of the table, which has ", table.count, ", number ",
                                              i, " is ", Index{indices[i]}});
  }
  for (Index i = 0; i < count; ++i) std::copy_n(table.row(indices[i]), table.length, output.row(i));
  return {};
}

}  // namespace heed
