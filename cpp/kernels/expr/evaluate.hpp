// Evaluates an expression for a panel of rows and some keys, instruction by instruction: one dispatch for all numbers
// of a register. What depends on the row or the key alone is computed once a block, not once a score.
#pragma once

#include <bit>
#include <numbers>

#include "kernels/score/softcap.hpp"
#include "kernels/softmax/apply_row_stats.hpp"
#include "kernels/task/attention_task.hpp"
#include "kernels/task/key_block.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// The register that a program rewrites.
inline constexpr int kRewritten = 2 * kRegistersOfKind;

/// The lines of a register, `step` floats apart; 0 for a line that stands for all.
struct Register {
  float* numbers;
  std::ptrdiff_t step;
};

/// The index of an axis: beyond its ends the one at the end, and the first for NaN.
inline std::int32_t nearest_inside(float index, std::int32_t size) {
  const auto last = static_cast<float>(size - 1);
  return static_cast<std::int32_t>(index > 0.0F ? (index < last ? index : last) : 0.0F);
}

class Evaluation {
 public:
  /// `rewritten` is tile 0; null: that is the program's own.
  Evaluation(const Expression& expression, const Panel& panel, const AttentionTask& task, const KeyBlock& keys,
             float* rewritten)
      : expression_(expression), panel_(panel), keys_(keys), rewritten_(rewritten) {
    // Keys are padded to whole lines; tiles have all lines that a block may have.
    const std::int64_t floats[] = {kPanel, round_up(task.loop.key_block, kPanel),
                                   std::int64_t{task.loop.key_block} * kPanel};
    float* next = task.scratch.registers;
    for (int kind = 0; kind < 3; ++kind) {
      first_[kind] = next;
      floats_[kind] = static_cast<std::ptrdiff_t>(floats[kind]);
      next += expression.program->registers[kind] * floats_[kind];
    }
    lines_[0] = 1;
    lines_[1] = (keys.count + kPanel - 1) / kPanel;
    lines_[2] = keys.lines();
  }

  [[nodiscard]] Register operator[](std::int32_t name) const {
    const std::int32_t kind = name / kRegistersOfKind;
    if (name == kRewritten && rewritten_) return {rewritten_, kPanel};
    return {first_[kind] + name % kRegistersOfKind * floats_[kind], kind == 0 ? 0 : kPanel};
  }

  [[nodiscard]] Register result() const { return (*this)[expression_.program->result]; }

  /// Runs all instructions.
  void run() const {
    const Instruction* next = expression_.instructions();
    for (int kind = 0; kind < 3; ++kind) {
      const Instruction* const end = next + expression_.program->instructions[kind];
      for (; next < end; ++next) run_one(*next, lines_[kind]);
    }
  }

  /// The registers that an instruction works on.
  struct Operands {
    Register result, a, b, c;
    int lines;
  };

  /// Each instruction has a loop.
  // NOLINTNEXTLINE(readability-function-size): a case an instruction
  [[gnu::noinline]] static void compute(Opcode op, const Operands& at) {
    using B = Batch;
    const B zero(0.0F);
    const B one = B::broadcast(*opaque(&kOne));
    const float *a = at.a.numbers, *b = at.b.numbers, *c = at.c.numbers;
    float* result = at.result.numbers;
    const auto map = [&](auto of) __attribute__((always_inline)) {
      for (int line = 0; line < at.lines; ++line) {
        constexpr int next = kLanes;
        const B first = of(B::load_aligned(a), B::load_aligned(b), B::load_aligned(c));
        const B second = of(B::load_aligned(a + next), B::load_aligned(b + next), B::load_aligned(c + next));
        first.store_aligned(result);
        second.store_aligned(result + next);
        a += at.a.step;
        b += at.b.step;
        c += at.c.step;
        result += kPanel;
      }
    };
    const auto test = [&](auto of) __attribute__((always_inline)) {
      map([&](B x, B y, B) { return xsimd::select(of(x, y), one, zero); });
    };
    switch (op) {
      case Opcode::broadcast:
      case Opcode::tanh:
        map([](B x, B, B) { return x; });
        break;
      case Opcode::exp:
        map([](B x, B, B) { return at_most(x * B(std::numbers::log2e_v<float>), B(127.0F)); });
        break;
      case Opcode::select:
        map([&](B x, B y, B z) { return xsimd::select(x != zero, y, z); });
        break;
      case Opcode::multiply_add:
        map([](B x, B y, B z) { return multiply_add(x, y, z); });
        break;
      case Opcode::abs:
        map([](B x, B, B) { return xsimd::abs(x); });
        break;
      case Opcode::floor:
        map([](B x, B, B) { return xsimd::floor(x); });
        break;
      case Opcode::sqrt:
        map([](B x, B, B) { return xsimd::sqrt(x); });
        break;
      case Opcode::log:
        map([](B x, B, B) { return xsimd::log(x); });
        break;
      case Opcode::add:
        map([](B x, B y, B) { return x + y; });
        break;
      case Opcode::sub:
        map([](B x, B y, B) { return x - y; });
        break;
      case Opcode::mul:
        map([](B x, B y, B) { return x * y; });
        break;
      case Opcode::div:
        map([](B x, B y, B) { return x / y; });
        break;
      case Opcode::min:
        map([](B x, B y, B) { return at_most(x, y); });
        break;
      case Opcode::max:
        map([](B x, B y, B) { return at_least(x, y); });
        break;
      case Opcode::less:
        test([](B x, B y) { return x < y; });
        break;
      case Opcode::less_equal:
        test([](B x, B y) { return x <= y; });
        break;
      case Opcode::equal:
        test([](B x, B y) { return x == y; });
        break;
      default:
        break;
    }
  }

 private:
  void run_one(const Instruction& instruction, int lines) const {
    const auto op = static_cast<Opcode>(instruction.opcode);
    const std::int32_t* const operands = instruction.operands;
    const Operands at{(*this)[instruction.result], (*this)[operands[0]], (*this)[operands[1]], (*this)[operands[2]],
                      lines};
    if (op < Opcode::broadcast) {
      fill(instruction, at);
    } else if (op == Opcode::at) {
      read(instruction, at);
    } else if (op == Opcode::broadcast && keys_.keys_per_line == 1) {
      broadcast(at);
    } else {
      compute(op, at);
    }
    if (op == Opcode::exp) exponentiate_lines(at);
    if (op == Opcode::tanh) cap_scores(1.0F, lines, at.result.numbers);
  }

  /// Takes powers of two, as the weights of a softmax are made, whose code is there anyway.
  static void exponentiate_lines(const Operands& at) {
    alignas(kScratchAlignment) float zeros[kPanel] = {};
    alignas(kScratchAlignment) float ones[kPanel];
    for (float& one : ones) one = 1.0F;
    weigh_scores(Normalizer::softmax, kExp2OfResults, {zeros, zeros, ones}, at.lines, at.result.numbers);
  }

  /// Fills a register with numbers that do not come from other registers.
  [[gnu::noinline]] void fill(const Instruction& instruction, const Operands& at) const {
    const int count = at.lines * kPanel;
    for (int i = 0; i < count; ++i) {
      float& number = at.result.numbers[i];
      if (instruction.opcode == static_cast<int>(Opcode::constant)) {
        number = std::bit_cast<float>(instruction.immediate);
      } else if (instruction.opcode == static_cast<int>(Opcode::key)) {
        number = static_cast<float>((i < keys_.count ? i : keys_.count - 1) + keys_.first);
      } else {
        number = panel_.row(i).index[instruction.opcode - static_cast<int>(Opcode::batch)];
      }
    }
  }

  static void broadcast(const Operands& at) {
    for (int line = 0; line < at.lines; ++line) {
      for (int lane = 0; lane < kPanel; lane += kLanes) {
        Batch(at.a.numbers[line]).store_aligned(at.result.numbers + line * at.result.step + lane);
      }
    }
  }

  [[gnu::noinline]] void read(const Instruction& instruction, const Operands& at) const {
    const Table& table = expression_.tables[instruction.immediate];
    for (int line = 0; line < at.lines; ++line) {
      for (int lane = 0; lane < kPanel; ++lane) {
        std::int32_t index = table.offset;
        std::int32_t stride = 1;
        for (int axis = table.axes - 1; axis >= 0; --axis) {
          const Register& indices = (*this)[instruction.operands[axis]];
          index += stride * nearest_inside(indices.numbers[line * indices.step + lane], table.sizes[axis]);
          stride *= table.sizes[axis];
        }
        at.result.numbers[line * at.result.step + lane] = expression_.numbers[index];
      }
    }
  }

  static constexpr float kOne = 1.0F;

  const Expression& expression_;
  const Panel& panel_;
  const KeyBlock& keys_;
  float* rewritten_;
  float* first_[3];
  std::ptrdiff_t floats_[3];
  int lines_[3];
};

}  // namespace heed::kernels
