// Between which numbers an expression lies in a whole block. Most masks leave most blocks full or empty, and a few
// numbers show it where the expression has thousands.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/expr/evaluate.hpp"

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

class BlockBounds {
 public:
  BlockBounds(const Evaluation& evaluation, const Expression& expression, const Panel& panel, const KeyBlock& keys)
      : evaluation_(evaluation), expression_(expression), panel_(panel), keys_(keys) {}

  /// The bounds of the result. Overwrites the registers.
  [[nodiscard, gnu::noinline]] Bounds find() const {
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
  /// The bounds that a register holds.
  [[nodiscard]] Bounds of_register(std::int32_t name) const {
    const float* const kept = evaluation_[name].numbers;
    return {kept[0], kept[1]};
  }

  [[nodiscard]] Bounds of_one(const Instruction& instruction) const {
    switch (static_cast<Opcode>(instruction.opcode)) {
      case Opcode::constant: {
        const auto number = std::bit_cast<float>(instruction.immediate);
        return {number, number};
      }
      case Opcode::batch:
      case Opcode::head:
      case Opcode::query:
        return of_rows(instruction.opcode - static_cast<int>(Opcode::batch));
      case Opcode::key:
        return {static_cast<float>(keys_.first), static_cast<float>(keys_.end() - 1)};
      case Opcode::broadcast:
        return of_register(instruction.operands[0]);
      case Opcode::at:
        return of_table(instruction);
      // The approximations of these may fall where they should rise.
      case Opcode::exp:
      case Opcode::log:
      case Opcode::tanh:
        return kUnknown;
      default:
        return of_operands(instruction);
    }
  }

  [[nodiscard]] Bounds of_rows(int axis) const {
    const float first = panel_.rows[0].index[axis];
    Bounds found{first, first};
    for (int lane = 1; lane < panel_.row_count; ++lane) found.include(panel_.rows[lane].index[axis]);
    return found;
  }

  /// The bounds of some numbers along the last axis: other reads would take longer to look at than it saves.
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

  /// An operator is monotonic in each operand while the others stay. So its bounds are among its results for the bounds
  /// of the operands. Each lane computes one combination of these, by the code that computes numbers, rounded as those.
  [[nodiscard]] Bounds of_operands(const Instruction& instruction) const {
    const auto op = static_cast<Opcode>(instruction.opcode);
    alignas(kScratchAlignment) float ends[3][kPanel];
    alignas(kScratchAlignment) float results[kPanel];
    for (int operand = 0; operand < 3; ++operand) {
      const float* const kept = evaluation_[instruction.operands[operand]].numbers;
      for (int lane = 0; lane < kPanel; ++lane) ends[operand][lane] = kept[lane >> operand & 1];
    }
    const Bounds a = of_register(instruction.operands[0]);
    const Bounds b = of_register(instruction.operands[1]);
    const bool is_known = a.are_known() && (op < Opcode::add || b.are_known());
    if (op >= Opcode::less) {
      if (!is_known) return kEither;
      if (op == Opcode::equal && !(a.are_one() && b.are_one())) {
        return a.low <= b.high && b.low <= a.high ? kEither : Bounds{0.0F, 0.0F};
      }
    }
    if (!is_known || (op == Opcode::div && b.hold(0.0F))) return kUnknown;
    Evaluation::compute(op, {{results, 0}, {ends[0], 0}, {ends[1], 0}, {ends[2], 0}, 1});
    Bounds found{results[0], results[0]};
    for (const float result : results) {
      if (!std::isfinite(result)) return kUnknown;
      found.include(result);
    }
    if (op == Opcode::abs && a.hold(0.0F)) found.low = 0.0F;
    return found;
  }

  /// So many numbers of a table are more than a block of keys needs.
  static constexpr std::int32_t kLongestRun = 256;

  const Evaluation& evaluation_;
  const Expression& expression_;
  const Panel& panel_;
  const KeyBlock& keys_;
};

}  // namespace heed::kernels
