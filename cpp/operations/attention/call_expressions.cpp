#include "operations/attention/call_expressions.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "kernels/task/attention_task.hpp"

namespace heed {
namespace {

static_assert(sizeof(kernels::Program) == kProgramHeader * sizeof(std::int32_t));
static_assert(sizeof(kernels::Instruction) == kInstructionWords * sizeof(std::int32_t));
static_assert(sizeof(kernels::Table) == kTableWords * sizeof(std::int32_t));

kernels::Expression describe_one(const Expressions& expressions, ProgramOf which) {
  return describe_program(expressions, expressions.words[static_cast<int>(which)]);
}

}  // namespace

CallExpressions describe_expressions(const Expressions& expressions) {
  if (!expressions.are_given()) return {};
  return {.score = describe_one(expressions, ProgramOf::score),
          .mask = describe_one(expressions, ProgramOf::mask),
          .weight = describe_one(expressions, ProgramOf::weight)};
}

Index register_floats(const CallExpressions& expressions, int panel, int key_block) {
  Index most = 0;
  for (const kernels::Expression* one : {&expressions.score, &expressions.mask, &expressions.weight}) {
    if (one->program != nullptr) most = std::max(most, kernels::register_floats(*one->program, panel, key_block));
  }
  return round_up(most, kernels::kScratchAlignment / sizeof(float));
}

}  // namespace heed
