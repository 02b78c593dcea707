#include "expression_error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "error_model.hpp"

namespace heed::testing {
namespace {

constexpr double u = kUnitRoundoff;

/// What xsimd's log states: errors below 2 units in the last place, each of two roundings.
constexpr double kLibraryError = 4.0 * u;

bool is_whole(double value) { return std::floor(value) == value && std::abs(value) <= 0x1p24; }

/// One rounding, unless there is none to do.
BoundedValue rounded(double value, double error) {
  return {value, error + (error == 0.0 && is_whole(value) ? 0.0 : u * (std::abs(value) + error) + 0x1p-149)};
}

BoundedValue operate(Opcode opcode, const BoundedValue& a, const BoundedValue& b, const BoundedValue& c) {
  const auto product_error = [](const BoundedValue& x, const BoundedValue& y) {
    return std::abs(x.value) * y.error + std::abs(y.value) * x.error + x.error * y.error;
  };
  switch (opcode) {
    case Opcode::broadcast:
      return a;
    case Opcode::select:
      return a.value != 0.0 ? b : c;
    case Opcode::multiply_add: {
      const BoundedValue product = rounded(a.value * b.value, product_error(a, b));
      return rounded(product.value + c.value, product.error + c.error);
    }
    case Opcode::abs:
      return {std::abs(a.value), a.error};
    case Opcode::exp: {
      const double value = std::exp(a.value);
      // x log2(e) is rounded, once as a constant and once as a product; less than exp2's floor is zero.
      const double relative = kExp2Error + 3.0 * u * std::abs(a.value);
      return {value, value * (std::expm1(a.error) + relative) + 0x1p-125};
    }
    case Opcode::log:
      return {std::log(a.value), a.error / (a.value - a.error) + kLibraryError * std::abs(std::log(a.value)) + u};
    case Opcode::tanh:
      return {std::tanh(a.value), a.error + kTanhError * std::abs(std::tanh(a.value))};
    case Opcode::add:
      return rounded(a.value + b.value, a.error + b.error);
    case Opcode::sub:
      return rounded(a.value - b.value, a.error + b.error);
    case Opcode::mul:
      return rounded(a.value * b.value, product_error(a, b));
    case Opcode::div:
      return rounded(a.value / b.value, a.error / std::abs(b.value));
    case Opcode::min:
      return {std::min(a.value, b.value), std::max(a.error, b.error)};
    case Opcode::max:
      return {std::max(a.value, b.value), std::max(a.error, b.error)};
    default:  // of whole numbers alone
      return {.value = 0.0, .error = 0.0};
  }
}

bool is_of_whole_numbers(Opcode opcode) {
  return opcode <= Opcode::key || opcode == Opcode::at || opcode == Opcode::floor || opcode >= Opcode::less;
}

}  // namespace

BoundedValue bound_mod(const Expressions& expressions, ProgramOf which, const reference::Place& place, double error) {
  return bound_program(expressions, expressions.words[static_cast<int>(which)], place, error);
}

BoundedValue bound_program(const Expressions& expressions, std::int32_t start, const reference::Place& place,
                           double error) {
  const std::int32_t* const header = expressions.words + start;
  std::array<BoundedValue, std::size_t{3} * kRegistersOfKind> registers{};
  const auto named = [&registers](std::int32_t name) -> BoundedValue& {
    return registers[static_cast<std::size_t>(name)];
  };
  named(2 * kRegistersOfKind) = {place.score, error};
  const std::int32_t* words = header + kProgramHeader;
  for (Index n = 0; n < Index{header[0]} + header[1] + header[2]; ++n, words += kInstructionWords) {
    const auto opcode = static_cast<Opcode>(words[0]);
    if (!is_of_whole_numbers(opcode)) {
      named(words[1]) = operate(opcode, named(words[2]), named(words[3]), named(words[4]));
      continue;
    }
    double operands[4];
    for (int index = 0; index < 4; ++index) operands[index] = named(words[2 + index]).value;
    named(words[1]) = {reference::run_instruction(expressions, words, operands, place), 0.0};
  }
  return named(header[6]);
}

}  // namespace heed::testing
