#include "reference/expression_gradients.hpp"

#include <array>
#include <cmath>

namespace heed::reference {
namespace {

/// How much the result of an operator grows with each operand.
std::array<double, 3> slopes_of(Opcode opcode, const double (&at)[4], double result) {
  const double a = at[0];
  const double b = at[1];
  switch (opcode) {
    case Opcode::broadcast:
      return {1.0, 0.0, 0.0};
    case Opcode::select:
      return {0.0, a != 0.0 ? 1.0 : 0.0, a != 0.0 ? 0.0 : 1.0};
    case Opcode::multiply_add:
      return {b, a, 1.0};
    case Opcode::abs:
      return {a > 0.0 ? 1.0 : (a < 0.0 ? -1.0 : 0.0), 0.0, 0.0};
    case Opcode::sqrt:
      return {0.5 / result, 0.0, 0.0};
    case Opcode::exp:
      return {result, 0.0, 0.0};
    case Opcode::log:
      return {1.0 / a, 0.0, 0.0};
    case Opcode::tanh:
      return {1.0 - result * result, 0.0, 0.0};
    case Opcode::add:
      return {1.0, 1.0, 0.0};
    case Opcode::sub:
      return {1.0, -1.0, 0.0};
    case Opcode::mul:
      return {b, a, 0.0};
    case Opcode::div:
      return {1.0 / b, -result / b, 0.0};
    case Opcode::min:
      return {a <= b ? 1.0 : 0.0, a <= b ? 0.0 : 1.0, 0.0};
    case Opcode::max:
      return {a >= b ? 1.0 : 0.0, a >= b ? 0.0 : 1.0, 0.0};
    default:  // steps, and what depends on places alone
      return {};
  }
}

/// An instruction that was run. Registers are used again, so what it read is remembered by who wrote it.
struct Step {
  const std::int32_t* words;
  double operands[4];
  std::array<std::size_t, 4> writers;
  double result;
  double gradient = 0.0;
};

constexpr std::size_t kScore = 0;  // the first step, which is none

std::vector<Step> run(const Expressions& expressions, const std::int32_t* header, const Place& place) {
  std::array<std::size_t, std::size_t{3} * kRegistersOfKind> writers{};
  std::vector<Step> steps = {{.words = nullptr, .operands = {}, .writers = {}, .result = place.score}};
  const std::int32_t* words = header + kProgramHeader;
  for (Index n = 0; n < Index{header[0]} + header[1] + header[2]; ++n, words += kInstructionWords) {
    Step step{.words = words, .operands = {}, .writers = {}, .result = 0.0};
    for (std::size_t operand = 0; operand < 4; ++operand) {
      step.writers[operand] = writers[static_cast<std::size_t>(words[2 + operand])];
      step.operands[operand] = steps[step.writers[operand]].result;
    }
    step.result = run_instruction(expressions, words, step.operands, place);
    writers[static_cast<std::size_t>(words[1])] = steps.size();
    steps.push_back(step);
  }
  steps[writers[static_cast<std::size_t>(header[6])]].gradient = 1.0;
  return steps;
}

}  // namespace

FunctionGradients differentiate(const Expressions& expressions, ProgramOf which, const Place& place) {
  std::vector<Step> steps = run(expressions, expressions.words + expressions.words[static_cast<int>(which)], place);
  FunctionGradients gradients;
  for (std::size_t n = steps.size() - 1; n != kScore; --n) {
    const Step& step = steps[n];
    const auto opcode = static_cast<Opcode>(step.words[0]);
    if (opcode == Opcode::at) {
      const Index number = number_in_table(expressions, step.words[6], step.operands);
      gradients.of_tables.push_back({static_cast<std::size_t>(number), step.gradient});
      continue;
    }
    const std::array<double, 3> slopes = slopes_of(opcode, step.operands, step.result);
    for (std::size_t operand = 0; operand < slopes.size(); ++operand) {
      if (slopes[operand] != 0.0) steps[step.writers[operand]].gradient += step.gradient * slopes[operand];
    }
  }
  gradients.of_score = steps[kScore].gradient;
  return gradients;
}

}  // namespace heed::reference
