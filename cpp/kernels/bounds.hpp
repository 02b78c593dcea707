// Between which numbers an expression lies in a whole block. Most masks leave all of most blocks, or nothing, and a few
// numbers show it where the expression has thousands.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/evaluate.hpp"

namespace heed::kernels {

/// Finite, or unknown: from -infinity to infinity, which NaN may be in.
struct Bounds {
  float low;
  float high;

  [[nodiscard]] bool are_known() const { return std::isfinite(low) && std::isfinite(high); }
  [[nodiscard]] bool are_one() const { return low == high; }
  [[nodiscard]] bool hold(float number) const { return low <= number && number <= high; }
  void include(float number) {
    low = number < low ? number : low;
    high = number > high ? number : high;
  }
};

inline constexpr Bounds kUnknown{-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()};
inline constexpr Bounds kEither{0.0F, 1.0F};

template <class Arch>
class BlockBounds {
 public:
  BlockBounds(const Evaluation<Arch>& evaluation, const Expression& expression, const Panel& panel,
              const KeyBlock& keys)
      : evaluation_(evaluation), expression_(expression), panel_(panel), keys_(keys) {}

  /// Of the result. Uses the registers.
  [[gnu::noinline]] Bounds find() const {
    const Program& program = *expression_.program;
    const Instruction* next = expression_.instructions();
    const std::int32_t count = program.instructions[0] + program.instructions[1] + program.instructions[2];
    for (const Instruction* const end = next + count; next < end; ++next) {
      const Bounds found = of_one(*next);
      float* const kept = evaluation_[next->result].numbers;
      kept[0] = found.low;
      kept[1] = found.high;
    }
    return of_register(program.result);
  }

 private:
  /// Of registers that hold bounds.
  [[nodiscard]] Bounds of_register(std::int32_t name) const {
    const float* const kept = evaluation_[name].numbers;
    return {kept[0], kept[1]};
  }

  [[nodiscard]] Bounds of_one(const Instruction& instruction) const {
    switch (static_cast<Op>(instruction.opcode)) {
      case Op::constant: {
        const auto number = std::bit_cast<float>(instruction.immediate);
        return {number, number};
      }
      case Op::batch:
      case Op::head:
      case Op::query:
        return of_rows(instruction.opcode - static_cast<int>(Op::batch));
      case Op::key:
        return {static_cast<float>(keys_.first), static_cast<float>(keys_.end() - 1)};
      case Op::spread:
        return of_register(instruction.operands[0]);
      case Op::at:
        return of_table(instruction);
      // Their approximations may fall where they should rise.
      case Op::exp:
      case Op::log:
      case Op::tanh:
        return kUnknown;
      default:
        return of_operands(instruction);
    }
  }

  [[nodiscard]] Bounds of_rows(int place) const {
    const float first = panel_.rows[0].place[place];
    Bounds found{first, first};
    for (int lane = 1; lane < panel_.row_count; ++lane) found.include(panel_.rows[lane].place[place]);
    return found;
  }

  /// Of a run along the last axis: what else may be read would take longer to look at than it saves.
  [[nodiscard]] Bounds of_table(const Instruction& instruction) const {
    const Table& table = expression_.tables[instruction.immediate];
    const float* run = expression_.numbers + table.offset;
    std::int32_t length = 1;
    std::int32_t stride = 1;
    for (int axis = table.axes - 1; axis >= 0; --axis) {
      const Bounds indices = of_register(instruction.operands[axis]);
      if (!indices.are_known()) return kUnknown;
      const std::int32_t first = nearest_inside(indices.low, table.sizes[axis]);
      const std::int32_t count = nearest_inside(indices.high, table.sizes[axis]) - first + 1;
      if (count > (stride == 1 ? kLongestRun : 1)) return kUnknown;
      length *= count;
      run += stride * first;
      stride *= table.sizes[axis];
    }
    Bounds found{*run, *run};
    for (; length > 0; --length, ++run) {
      if (!std::isfinite(*run)) return kUnknown;
      found.include(*run);
    }
    return found;
  }

  /// Operators rise or fall with each operand as long as the others stay, so that their bounds are among what the
  /// bounds of the operands come to, one choice of those a lane: by the code that computes numbers, and rounded as
  /// those are.
  [[nodiscard]] Bounds of_operands(const Instruction& instruction) const {
    const auto op = static_cast<Op>(instruction.opcode);
    alignas(kScratchAlignment) float ends[3][kPanel<Arch>];
    alignas(kScratchAlignment) float results[kPanel<Arch>];
    for (int operand = 0; operand < 3; ++operand) {
      const float* const kept = evaluation_[instruction.operands[operand]].numbers;
      for (int lane = 0; lane < kPanel<Arch>; ++lane) ends[operand][lane] = kept[lane >> operand & 1];
    }
    const Bounds a = of_register(instruction.operands[0]);
    const Bounds b = of_register(instruction.operands[1]);
    const bool is_known = a.are_known() && (op < Op::add || b.are_known());
    if (op >= Op::less) {
      if (!is_known) return kEither;
      if (op == Op::equal && !(a.are_one() && b.are_one())) {
        return a.low <= b.high && b.low <= a.high ? kEither : Bounds{0.0F, 0.0F};
      }
    }
    if (!is_known || (op == Op::div && b.hold(0.0F))) return kUnknown;
    Evaluation<Arch>::compute(op, {{results, 0}, {ends[0], 0}, {ends[1], 0}, {ends[2], 0}, 1});
    Bounds found{results[0], results[0]};
    for (const float result : results) {
      if (!std::isfinite(result)) return kUnknown;
      found.include(result);
    }
    if (op == Op::abs && a.hold(0.0F)) found.low = 0.0F;
    return found;
  }

  /// Of numbers of a table: more than a block of keys needs.
  static constexpr std::int32_t kLongestRun = 256;

  const Evaluation<Arch>& evaluation_;
  const Expression& expression_;
  const Panel& panel_;
  const KeyBlock& keys_;
};

}  // namespace heed::kernels
