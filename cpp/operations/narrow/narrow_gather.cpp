#include "operations/narrow/narrow_gather.hpp"

#include "operations/narrow/common.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"embedding"};

}  // namespace

Status run(const NarrowGatherCall& call, Executor& /*executor*/, const StopFlag* /*stop*/) {
  const auto& [format, table, count, indices, output] = call;
  Status status = first_failure({kRules.check_sizes("output", output), check_format(kRules, format, output.length)});
  if (!status.is_ok()) return status;
  if ((table == nullptr || indices == nullptr) && output.count > 0) {
    return kRules.broken(StatusCode::shape, {"table must have data, got none"});
  }
  const Index rows = output.count;
  for (Index i = 0; i < rows; ++i) {
    if (indices[i] >= 0 && indices[i] < count) continue;
    return kRules.broken(StatusCode::option, {"indices must be rows of the table, which has ", count, ", number ", i,
                                              " is ", Index{indices[i]}});
  }
  for (Index i = 0; i < rows; ++i) {
    kernels::widen_weights({.format = format,
                            .panels = bytes_of_weights(table),
                            .inputs = static_cast<std::ptrdiff_t>(output.length),
                            .output = indices[i],
                            .first = 0,
                            .count = static_cast<int>(output.length)},
                           output.row(i));
  }
  return {};
}

}  // namespace heed
