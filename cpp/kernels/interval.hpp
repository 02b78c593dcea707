// What an expression may come to over a whole run of keys and panel of rows, from what its lines and keys come to:
// enough to prove that a mask leaves nothing of a run, or all of it, without looking at a score's place.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/evaluate.hpp"

namespace heed::kernels {

/// Numbers from low to high; where one may be NaN, or nothing is known, all of them.
struct Interval {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  [[nodiscard]] bool is_one() const { return low == high; }
};

inline Interval known(float low, float high) {
  if (low <= high) return {low, high};
  return {};
}

inline Interval truth(bool is_never, bool is_always) { return {is_always ? 1.0F : 0.0F, is_never ? 0.0F : 1.0F}; }

/// Of all numbers of a register; not known if one is NaN or infinite.
template <class Arch>
[[gnu::noinline]] Interval range_of(const float* numbers, int count) {
  Batch<Arch> lowest(numbers[0]);
  Batch<Arch> highest = lowest;
  const Batch<Arch> zero(0.0F);
  Batch<Arch> zeros = zero;  // unless one is not finite
  int i = 0;
  for (; i + kLanes<Arch> <= count; i += kLanes<Arch>) {
    const Batch<Arch> some = Batch<Arch>::load_aligned(numbers + i);
    lowest = xsimd::min(lowest, some);
    highest = xsimd::max(highest, some);
    zeros = multiply_add<Arch>(some, zero, zeros);
  }
  Interval range{xsimd::reduce_min(lowest), xsimd::reduce_max(highest)};
  float rest = xsimd::reduce_add(zeros);
  for (; i < count; ++i) {
    range = {std::min(range.low, numbers[i]), std::max(range.high, numbers[i])};
    rest += numbers[i] * 0.0F;
  }
  return rest == 0.0F ? range : Interval{};
}

inline Interval product(Interval a, Interval b) {
  const float corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  Interval range{corners[0], corners[0]};
  for (const float corner : corners) {
    if (corner != corner) return {};
    range = {std::min(range.low, corner), std::max(range.high, corner)};
  }
  return range;
}

/// What `op` makes of intervals, as far as masks need it; floats round alike at the ends and between them.
[[gnu::noinline]] inline Interval interval_of(Op op, Interval a, Interval b, Interval c) {
  switch (op) {
    case Op::select:
      if (a.is_one()) return a.low != 0.0F ? b : c;
      return {std::min(b.low, c.low), std::max(b.high, c.high)};
    case Op::neg:
      return {-a.high, -a.low};
    case Op::abs:
      if (a.low >= 0.0F) return a;
      if (a.high <= 0.0F) return {-a.high, -a.low};
      return {0.0F, std::max(-a.low, a.high)};
    case Op::floor:
      return {std::floor(a.low), std::floor(a.high)};
    case Op::negate:
      return {1.0F - a.high, 1.0F - a.low};
    case Op::add:
      return known(a.low + b.low, a.high + b.high);
    case Op::sub:
      return known(a.low - b.high, a.high - b.low);
    case Op::mul:
      return product(a, b);
    case Op::floor_div:
      if (!b.is_one() || !(b.low > 0.0F)) return {};
      return {std::floor(a.low / b.low), std::floor(a.high / b.low)};
    case Op::mod: {
      if (!b.is_one() || !(b.low > 0.0F)) return {};
      const float turns = std::floor(a.low / b.low);
      if (turns == std::floor(a.high / b.low)) return known(a.low - turns * b.low, a.high - turns * b.low);
      return {0.0F, b.low - 1.0F};
    }
    case Op::min:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Op::max:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case Op::less:
      return truth(a.low >= b.high, a.high < b.low);
    case Op::less_equal:
      return truth(a.low > b.high, a.high <= b.low);
    case Op::equal:
      return truth(a.low > b.high || b.low > a.high, a.is_one() && b.is_one() && a.low == b.low);
    case Op::not_equal:
      return truth(a.is_one() && b.is_one() && a.low == b.low, a.low > b.high || b.low > a.high);
    default:
      return {};
  }
}

/// What a mask leaves of the run; its lines and keys have been computed.
template <class Arch>
[[gnu::noinline]] MaskedKeys judge(const Expression& expression, const Registers<Arch>& registers, const Panel& panel,
                                   const KeyLines& keys) {
  Interval tiles[kMostTiles];
  const Program& program = *expression.program;
  const auto interval = [&](std::int32_t name) {
    if (name >= 2 * kRegistersOfKind) return tiles[name % kRegistersOfKind];
    const bool is_keys = name >= kRegistersOfKind;
    return range_of<Arch>(registers[name].numbers, is_keys ? keys.count : panel.row_count);
  };
  const Instruction* const tile_code = expression.instructions() + program.instructions[0] + program.instructions[1];
  for (int n = 0; n < program.instructions[2]; ++n) {
    const Instruction& at = tile_code[n];
    const Op op = static_cast<Op>(at.opcode);
    const auto operand = [&](int which) { return interval(at.operands[which]); };
    Interval& result = tiles[at.result % kRegistersOfKind];
    if (op == Op::spread) {
      result = operand(0);
    } else if (op == Op::at || op == Op::multiply_add) {
      result = {};
    } else {
      const bool is_unary = op >= Op::neg && op <= Op::negate;
      result =
          interval_of(op, operand(0), is_unary ? Interval{} : operand(1), op == Op::select ? operand(2) : Interval{});
    }
  }
  const Interval result = interval(program.result);
  if (result.high <= 0.0F && result.low >= 0.0F) return MaskedKeys::all;
  // A condition that may be NaN has no ends.
  if (result.low > 0.0F && result.high < std::numeric_limits<float>::infinity()) return MaskedKeys::none;
  return MaskedKeys::some;
}

}  // namespace heed::kernels
