// Evaluates an expression for a panel of rows and a run of keys, instruction by instruction: one dispatch for all
// numbers of a register. What goes by row or by key alone is computed once a run, not once a score.
#pragma once

#include <bit>

#include "kernels/attention_block.hpp"
#include "kernels/evaluate_op.hpp"
#include "kernels/key_block.hpp"
#include "kernels/mask.hpp"
#include "kernels/panel.hpp"
#include "kernels/tanh.hpp"

namespace heed::kernels {

/// Where the vectors of a register are: all of its lines, or a line that stands for all.
struct Register {
  float* numbers;
  int repeat;  // of the number of a vector, what counts

  [[nodiscard]] float* vector(int index, int lanes) const { return numbers + std::ptrdiff_t{index & repeat} * lanes; }
};

inline constexpr int kAllLines = -1;
inline constexpr int kOneLine = kPanelVectors - 1;
static_assert((kPanelVectors & kOneLine) == 0, "a power of two");

/// The registers of a program, in the lines that its rows and keys take.
template <class Arch>
class Registers {
 public:
  /// `rewritten` is tile 0.
  Registers(const Program& program, const KeyLines& keys, int key_block, float* memory, float* rewritten)
      : key_lines_((keys.count + kPanel<Arch> - 1) / kPanel<Arch>),
        tile_lines_(keys.lines()),
        tile_floats_(std::ptrdiff_t{key_block} * kPanel<Arch>),
        key_floats_((std::ptrdiff_t{key_block} + kPanel<Arch> - 1) / kPanel<Arch> * kPanel<Arch>),
        lines_(memory),
        keys_(lines_ + std::ptrdiff_t{program.registers[0]} * kPanel<Arch>),
        tiles_(keys_ + program.registers[1] * key_floats_),
        rewritten_(rewritten) {}

  [[nodiscard]] Register operator[](std::int32_t name) const {
    const std::ptrdiff_t number = name % kRegistersOfKind;
    switch (name / kRegistersOfKind) {
      case 0:
        return {lines_ + number * kPanel<Arch>, kOneLine};
      case 1:
        return {keys_ + number * key_floats_, kAllLines};
      default:
        return {number == 0 ? rewritten_ : tiles_ + number * tile_floats_, kAllLines};
    }
  }

  [[nodiscard]] int lines_of(int kind) const { return kind == 0 ? 1 : kind == 1 ? key_lines_ : tile_lines_; }

 private:
  int key_lines_, tile_lines_;
  std::ptrdiff_t tile_floats_, key_floats_;
  float *lines_, *keys_, *tiles_, *rewritten_;
};

/// An index of an axis; beyond its ends the one at the end, and the first for NaN.
inline std::int32_t nearest_inside(float index, std::int32_t size) {
  const auto last = static_cast<float>(size - 1);
  return static_cast<std::int32_t>(index > 0.0F ? (index < last ? index : last) : 0.0F);
}

template <class Arch>
class Evaluation {
 public:
  Evaluation(const Expression& expression, const Panel& panel, const AttentionBlock& block, const KeyBlock& keys,
             float* rewritten)  // NOLINT(readability-non-const-parameter): its tile 0 is written
      : expression_(expression),
        panel_(panel),
        keys_(keys),
        batch_(block.batch),
        registers_(*expression.program, keys, block.key_block, block.registers, rewritten) {}

  [[nodiscard]] const Registers<Arch>& registers() const { return registers_; }
  [[nodiscard]] Register result() const { return registers_[expression_.program->result]; }

  /// Those for lines and keys.
  void run_edges() const { run_kinds(0, 2); }
  void run_tiles() const { run_kinds(2, 3); }

 private:
  [[gnu::noinline]] void run_kinds(int from, int to) const {
    const Instruction* next = expression_.instructions();
    for (int kind = 0; kind < to; ++kind) {
      const Instruction* const end = next + expression_.program->instructions[kind];
      for (; kind >= from && next < end; ++next) run(*next, registers_.lines_of(kind));
      next = end;
    }
  }

  /// What an instruction works on.
  struct Operands {
    Register result, a, b, c;
    int vectors;
  };

  template <class Map>
  [[gnu::always_inline]] static void map(const Operands& at, Map of) {
    // One loop, since there are many of these, and all are downloaded.
    for (int i = 0; i < at.vectors; ++i) {
      const auto load = [i](const Register& from) { return Batch<Arch>::load_aligned(from.vector(i, kLanes<Arch>)); };
      of(load(at.a), load(at.b), load(at.c)).store_aligned(at.result.vector(i, kLanes<Arch>));
    }
  }

  /// What does not come from other registers.
  [[gnu::noinline]] void fill(const Instruction& instruction, const Operands& at) const {
    for (int i = 0; i < at.vectors * kLanes<Arch>; ++i) {
      float number = batch_;
      switch (static_cast<Op>(instruction.opcode)) {
        case Op::constant:
          number = std::bit_cast<float>(instruction.immediate);
          break;
        case Op::head:
          number = panel_.row(i).head;
          break;
        case Op::query:
          number = panel_.row(i).number;
          break;
        default:
          break;
      }
      at.result.numbers[i] = number;
    }
  }

  void count_keys(const Operands& at) const {
    alignas(kScratchAlignment) float first[kLanes<Arch>];
    for (int lane = 0; lane < kLanes<Arch>; ++lane) first[lane] = static_cast<float>(keys_.first + lane);
    const Batch<Arch> keys = Batch<Arch>::load_aligned(first);
    for (int i = 0; i < at.vectors; ++i) {
      (keys + Batch<Arch>(static_cast<float>(i * kLanes<Arch>))).store_aligned(at.result.vector(i, kLanes<Arch>));
    }
  }

  void spread(const Operands& at) const {
    if (keys_.per_line > 1) return map(at, [](Batch<Arch> keys, Batch<Arch>, Batch<Arch>) { return keys; });
    for (int i = 0; i < at.vectors; ++i) {
      Batch<Arch>::broadcast(at.a.numbers[i / kPanelVectors]).store_aligned(at.result.vector(i, kLanes<Arch>));
    }
  }

  [[gnu::noinline]] void read(const Instruction& instruction, const Operands& at) const {
    const Table& table = expression_.tables[instruction.immediate];
    Register indices[4];
    for (int axis = 0; axis < table.axes; ++axis) indices[axis] = registers_[instruction.operands[axis]];
    for (int i = 0; i < at.vectors * kLanes<Arch>; ++i) {
      std::int32_t index = 0;
      for (int axis = 0; axis < table.axes; ++axis) {
        const float given = indices[axis].vector(i / kLanes<Arch>, kLanes<Arch>)[i % kLanes<Arch>];
        index = index * table.sizes[axis] + nearest_inside(given, table.sizes[axis]);
      }
      at.result.numbers[i] = expression_.numbers[table.offset + index];
    }
  }

  void run(const Instruction& instruction, int lines) const {
    const Operands at{registers_[instruction.result], registers_[instruction.operands[0]],
                      registers_[instruction.operands[1]], registers_[instruction.operands[2]], lines * kPanelVectors};
    switch (const Op op = static_cast<Op>(instruction.opcode)) {
      case Op::constant:
      case Op::batch:
      case Op::head:
      case Op::query:
        return fill(instruction, at);
      case Op::key:
        return count_keys(at);
      case Op::spread:
        return spread(at);
      case Op::at:
        return read(instruction, at);
      default:
        return compute(op, at);
    }
  }

  [[gnu::noinline]] static void compute(Op op, const Operands& at) {
    using B = Batch<Arch>;
    const B zero(0.0F);
    const B one = B::broadcast(*opaque(&kOne));
    const auto truth = [&](auto which) { return xsimd::select(which, one, zero); };
    const auto floor_div = [&](B a, B b) { return xsimd::select(b == zero, zero, xsimd::floor(a / b)); };
    switch (op) {
      case Op::select:
        return map(at, [&](B a, B b, B c) { return xsimd::select(a != zero, b, c); });
      case Op::multiply_add:
        return map(at, [](B a, B b, B c) { return multiply_add<Arch>(a, b, c); });
      case Op::neg:
        return map(at, [](B a, B, B) { return -a; });
      case Op::abs:
        return map(at, [](B a, B, B) { return xsimd::abs(a); });
      case Op::floor:
        return map(at, [](B a, B, B) { return xsimd::floor(a); });
      case Op::sqrt:
        return map(at, [](B a, B, B) { return xsimd::sqrt(a); });
      case Op::exp:
        return map(at, [](B a, B, B) { return xsimd::exp(a); });
      case Op::log:
        return map(at, [](B a, B, B) { return xsimd::log(a); });
      case Op::tanh: {
        const Tanh<Arch> tanh;
        return map(at, [&](B a, B, B) { return tanh(a); });
      }
      case Op::negate:
        return map(at, [&](B a, B, B) { return one - a; });
      case Op::add:
        return map(at, [](B a, B b, B) { return a + b; });
      case Op::sub:
        return map(at, [](B a, B b, B) { return a - b; });
      case Op::mul:
        return map(at, [](B a, B b, B) { return a * b; });
      case Op::div:
        return map(at, [](B a, B b, B) { return a / b; });
      case Op::floor_div:
        return map(at, [&](B a, B b, B) { return floor_div(a, b); });
      case Op::mod:
        return map(at, [&](B a, B b, B) { return xsimd::select(b == zero, zero, a - b * floor_div(a, b)); });
      case Op::min:
        return map(at, [](B a, B b, B) { return at_most<Arch>(a, b); });
      case Op::max:
        return map(at, [](B a, B b, B) { return at_least<Arch>(a, b); });
      case Op::less:
        return map(at, [&](B a, B b, B) { return truth(a < b); });
      case Op::less_equal:
        return map(at, [&](B a, B b, B) { return truth(a <= b); });
      case Op::equal:
        return map(at, [&](B a, B b, B) { return truth(a == b); });
      case Op::not_equal:
        return map(at, [&](B a, B b, B) { return truth(a != b); });
      default:
        return;
    }
  }

  static constexpr float kOne = 1.0F;

  const Expression& expression_;
  const Panel& panel_;
  const KeyBlock& keys_;
  float batch_;
  Registers<Arch> registers_;
};

}  // namespace heed::kernels
