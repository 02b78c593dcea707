#include "expression_program.hpp"

#include <algorithm>
#include <bit>

namespace heed::testing {
namespace {

using Value = Program::Value;

int kind_of(const Value& value) { return value.name / kRegistersOfKind; }

Value random_whole(Random& random, Program& program, int operators);

Value random_leaf(Random& random, Program& program) {
  switch (random.below(6)) {
    case 0:
      return program.constant(static_cast<float>(random.below(40) - 10));
    case 1:
      return program.batch();
    case 2:
      return program.head();
    case 3:
    case 4:
      return program.query();
    default:
      return program.key();
  }
}

Value random_whole(Random& random, Program& program, int operators) {
  if (operators <= 0) return random_leaf(random, program);
  if (random.chance(0.15)) return program.at(1, {random_whole(random, program, operators - 1)});
  if (random.chance(0.1)) return program.apply(Opcode::abs, {random_whole(random, program, operators - 1)});
  if (random.chance(0.1))
    return program.apply(Opcode::sub, {program.constant(0.0F), random_whole(random, program, operators - 1)});
  const Opcode opcode =
      random.pick(std::vector<Opcode>{Opcode::add, Opcode::sub, Opcode::min, Opcode::max, Opcode::sub});
  const Value a = random_whole(random, program, (operators - 1) / 2);
  if (random.chance(0.3)) {
    const Value divisor = program.constant(static_cast<float>(random.below(9)));
    return random.chance(0.5) ? program.mod(a, divisor) : program.floor_div(a, divisor);
  }
  return program.apply(opcode, {a, random_whole(random, program, (operators - 1) / 2)});
}

Value random_truth(Random& random, Program& program, int operators) {
  if (operators <= 3) {
    const Opcode opcode = random.pick(std::vector<Opcode>{Opcode::less, Opcode::less_equal, Opcode::equal});
    const Value a = random_whole(random, program, operators);
    const Value truth = program.apply(opcode, {a, random_whole(random, program, operators / 2)});
    return random.chance(0.2) ? program.negate(truth) : truth;
  }
  const Value a = random_truth(random, program, (operators - 1) / 2);
  if (random.chance(0.2)) return program.negate(a);
  const Value b = random_truth(random, program, (operators - 1) / 2);
  if (random.chance(0.2)) return program.apply(Opcode::select, {a, b, program.negate(b)});
  return program.apply(random.chance(0.4) ? Opcode::min : Opcode::max, {a, b});
}

Value random_number(Random& random, Program& program, int operators) {
  if (operators <= 0) {
    if (random.chance(0.6)) return program.score();
    if (random.chance(0.3)) return program.constant(random.normal());
    return program.at(0, {random_whole(random, program, 1), random_whole(random, program, 1)});
  }
  const auto inner = [&](int share) { return random_number(random, program, (operators - 1) / share); };
  switch (random.below(9)) {
    case 0:
      return program.apply(Opcode::tanh, {inner(1)});
    case 1:
      return program.apply(Opcode::exp, {program.apply(Opcode::min, {inner(1), program.constant(1.5F)})});
    case 2:
      return program.apply(
          Opcode::log, {program.apply(Opcode::add, {program.apply(Opcode::abs, {inner(1)}), program.constant(1.0F)})});
    case 3:
      return program.apply(Opcode::select, {random_truth(random, program, 2), inner(2), inner(2)});
    case 4:
      return program.apply(Opcode::multiply_add, {program.constant(0.25F), random_whole(random, program, 1), inner(1)});
    case 5:
      return program.apply(Opcode::div, {inner(1), program.constant(1.0F + static_cast<float>(random.below(5)))});
    case 6:
      return program.apply(Opcode::mul, {program.apply(Opcode::tanh, {inner(2)}), inner(2)});
    case 7:
      return program.apply(random.chance(0.5) ? Opcode::min : Opcode::max, {inner(2), inner(2)});
    default:
      return program.apply(random.chance(0.5) ? Opcode::add : Opcode::sub, {inner(2), inner(2)});
  }
}

}  // namespace

Value Program::constant(float number) {
  return {add(0, Opcode::constant, {}, std::bit_cast<std::int32_t>(number)), true};
}

Value Program::leaf(Opcode opcode, bool is_uniform) { return {add(0, opcode, {}, 0), is_uniform}; }

Value Program::key() { return {add(1, Opcode::key, {}, 0), false}; }

Value Program::apply(Opcode opcode, const std::vector<Value>& operands) { return emit(opcode, operands, 0); }

Value Program::at(std::int32_t table, const std::vector<Value>& indices) { return emit(Opcode::at, indices, table); }

Value Program::floor_div(Value a, Value b) {
  const Value zero = constant(0.0F);
  return apply(Opcode::select,
               {apply(Opcode::equal, {b, zero}), zero, apply(Opcode::floor, {apply(Opcode::div, {a, b})})});
}

Value Program::mod(Value a, Value b) {
  const Value zero = constant(0.0F);
  const Value rest = apply(Opcode::sub, {a, apply(Opcode::mul, {b, floor_div(a, b)})});
  return apply(Opcode::select, {apply(Opcode::equal, {b, zero}), zero, rest});
}

Value Program::emit(Opcode opcode, std::vector<Value> operands, std::int32_t immediate) {
  const auto is = [&operands](int kind) {
    return std::ranges::any_of(operands, [kind](const Value& one) { return kind_of(one) == kind && !one.is_uniform; });
  };
  const bool is_tile = is(2) || (is(0) && is(1));
  if (is_tile) std::ranges::transform(operands, operands.begin(), [this](Value one) { return broadcast(one); });
  const bool is_uniform = std::ranges::all_of(operands, [](const Value& one) { return one.is_uniform; });
  return {add(is_tile ? 2 : is(1) ? 1 : 0, opcode, operands, immediate), is_uniform};
}

Value Program::broadcast(Value value) {
  return kind_of(value) == 1 ? Value{add(2, Opcode::broadcast, {value}, 0), false} : value;
}

std::int32_t Program::add(int kind, Opcode opcode, const std::vector<Value>& operands, std::int32_t immediate) {
  const auto at = static_cast<std::size_t>(kind);
  const std::int32_t name = kind * kRegistersOfKind + registers_[at]++;
  std::vector<std::int32_t>& code = code_[at];
  code.push_back(static_cast<std::int32_t>(opcode));
  code.push_back(name);
  for (std::size_t n = 0; n < 4; ++n) code.push_back(n < operands.size() ? operands[n].name : 0);
  code.push_back(immediate);
  return name;
}

std::vector<std::int32_t> Program::words() const {
  std::vector<std::int32_t> words;
  for (const auto& code : code_) words.push_back(static_cast<std::int32_t>(std::ssize(code) / kInstructionWords));
  words.insert(words.end(), registers_.begin(), registers_.end());
  words.push_back(result_);
  for (const auto& code : code_) words.insert(words.end(), code.begin(), code.end());
  return words;
}

OwnedExpressions::OwnedExpressions(const std::array<const Program*, kPrograms>& programs,
                                   const std::vector<TableCase>& tables)
    : words(kPrograms + 1) {
  words[kPrograms] = static_cast<std::int32_t>(tables.size());
  for (const TableCase& table : tables) {
    words.push_back(static_cast<std::int32_t>(numbers.size()));
    words.push_back(static_cast<std::int32_t>(table.sizes.size()));
    for (std::size_t axis = 0; axis < 4; ++axis) words.push_back(axis < table.sizes.size() ? table.sizes[axis] : 1);
    numbers.insert(numbers.end(), table.numbers.begin(), table.numbers.end());
  }
  for (std::size_t which = 0; which < programs.size(); ++which) {
    if (programs[which] != nullptr) words[which] = add(*programs[which]);
  }
}

std::int32_t OwnedExpressions::add(const Program& program) {
  const auto start = static_cast<std::int32_t>(words.size());
  const std::vector<std::int32_t> own = program.words();
  words.insert(words.end(), own.begin(), own.end());
  return start;
}

namespace {

/// Draws until a program has no more tiles than kernels have: no value takes the place of one that is used no more.
Program draw_program(Random& random, int operators, Value (*draw)(Random& random, Program& program, int operators)) {
  Program program;
  do {
    program = Program();
    program.finish(draw(random, program, operators));
  } while (program.tiles() > kMostTiles);
  return program;
}

}  // namespace

Program random_score_program(Random& random, int operators) { return draw_program(random, operators, random_number); }

Program random_mask_program(Random& random, int operators) { return draw_program(random, operators, random_truth); }

std::vector<TableCase> random_tables(Random& random) {
  TableCase floats{.sizes = {3, 5}, .numbers = std::vector<float>(15)};
  for (float& number : floats.numbers) number = random.normal();
  TableCase whole{.sizes = {7}, .numbers = std::vector<float>(7)};
  for (float& number : whole.numbers) number = static_cast<float>(random.below(30));
  return {floats, whole};
}

}  // namespace heed::testing
