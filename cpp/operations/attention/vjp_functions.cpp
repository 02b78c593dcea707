#include <algorithm>

#include "heed/rounding.hpp"
#include "operations/attention/vjp_job.hpp"

namespace heed {
namespace {

kernels::TableSlope describe(const Expressions& expressions, const TableRead& read) {
  kernels::TableSlope slope{.slope = describe_program(expressions, read.slope), .indices = {}, .target = read.target};
  slope.table = slope.slope.tables + read.table;
  for (int axis = 0; axis < slope.table->axes; ++axis) {
    slope.indices[axis] = describe_program(expressions, read.indices[axis]);
  }
  return slope;
}

/// The floats that the registers of the largest program take.
Index register_floats_of(const VjpFunction& function, Index key_block) {
  Index most = 0;
  const auto see = [&](const kernels::Expression& one) {
    if (one.program == nullptr) return;
    most = std::max<Index>(most, kernels::register_floats(*one.program, kernels::kPanel, key_block));
  };
  see(function.slope);
  for (int i = 0; i < function.read_count; ++i) {
    see(function.reads[i].slope);
    for (const kernels::Expression& index : function.reads[i].indices) see(index);
  }
  return round_up(most, kernels::kPanel);
}

}  // namespace

VjpFunctions::VjpFunctions(const VjpWork& work)
    : reads(floats_for<kernels::TableSlope>(work.problem.slopes.read_count)),
      table_partials(work.plan.table_partials * work.problem.gradients.table_numbers) {
  if (!reads.is_available() || !table_partials.is_available()) return;
  const Expressions& expressions = work.forward().options.expressions;
  const ExpressionSlopes& slopes = work.problem.slopes;
  auto* next = reads.as<kernels::TableSlope>();
  const auto describe_function = [&](ProgramOf which, std::int32_t start, VjpFunction& function) {
    if (start != 0) function.slope = describe_program(expressions, start);
    function.reads = next;
    for (Index i = 0; next != nullptr && i < slopes.read_count; ++i) {
      if (slopes.reads[i].reader == static_cast<std::int32_t>(which)) *next++ = describe(expressions, slopes.reads[i]);
    }
    function.read_count = static_cast<int>(next - function.reads);
    register_floats = std::max(register_floats, register_floats_of(function, Index{work.plan.key_block}));
  };
  // A choice that is held fixed leaves nothing of the scores to differentiate, and no weights but 0 and 1.
  const bool are_fixed = work.problem.are_weights_fixed();
  if (!are_fixed) describe_function(ProgramOf::score, slopes.score, score);
  describe_function(ProgramOf::weight, are_fixed ? 0 : slopes.weight, weight);
  std::fill_n(table_partials.data(), table_partials.floats(), 0.0F);
}

void write_tables(const VjpJob& job) {
  const Index numbers = job.problem.gradients.table_numbers;
  float* const target = job.problem.gradients.tables;
  if (target == nullptr) return;
  std::fill_n(target, numbers, 0.0F);
  for (Index partial = 0; partial < job.plan.table_partials; ++partial) {
    const float* const added = job.functions.table_partials.data() + partial * numbers;
    for (Index i = 0; i < numbers; ++i) target[i] += added[i];
  }
}

}  // namespace heed
