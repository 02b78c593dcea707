// Programs of expressions, written by hand: what heed/expr does in TypeScript, without its optimisations.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "heed/expressions.hpp"
#include "support.hpp"

namespace heed::testing {

/// One expression. Values are good for the program that made them.
class Program {
 public:
  struct Value {
    std::int32_t name;
    bool is_uniform;  // the same for all rows and keys
  };

  Value constant(float number);
  Value batch() { return leaf(Opcode::batch, true); }
  Value head() { return leaf(Opcode::head, false); }
  Value query() { return leaf(Opcode::query, false); }
  Value key();
  Value score() { return {kTile, false}; }
  Value apply(Opcode opcode, const std::vector<Value>& operands);
  Value at(std::int32_t table, const std::vector<Value>& indices);
  Value negate(Value truth) { return apply(Opcode::sub, {constant(1.0F), truth}); }
  /// Of whole numbers, rounded down; 0 where b is 0.
  Value floor_div(Value a, Value b);
  /// What that leaves of a.
  Value mod(Value a, Value b);

  void finish(Value result) { result_ = broadcast(result).name; }
  [[nodiscard]] int tiles() const { return registers_[2]; }
  [[nodiscard]] std::vector<std::int32_t> words() const;

 private:
  static constexpr std::int32_t kTile = 2 * kRegistersOfKind;

  Value leaf(Opcode opcode, bool is_uniform);
  Value emit(Opcode opcode, std::vector<Value> operands, std::int32_t immediate);
  Value broadcast(Value value);
  std::int32_t add(int kind, Opcode opcode, const std::vector<Value>& operands, std::int32_t immediate);

  std::array<std::vector<std::int32_t>, 3> code_;
  std::array<std::int32_t, 3> registers_ = {0, 0, 1};
  std::int32_t result_ = kTile;
};

struct TableCase {
  std::vector<std::int32_t> sizes;
  std::vector<float> numbers;
};

/// The words and numbers of a call's expressions. Moves; a copy's view would read the original.
struct OwnedExpressions {
  std::vector<std::int32_t> words;
  std::vector<float> numbers;

  OwnedExpressions() = default;
  /// Of scores, of the mask and of weights; null: there is none.
  explicit OwnedExpressions(const std::array<const Program*, kPrograms>& programs,
                            const std::vector<TableCase>& tables = {});
  OwnedExpressions(OwnedExpressions&&) noexcept = default;
  OwnedExpressions& operator=(OwnedExpressions&&) noexcept = default;
  OwnedExpressions(const OwnedExpressions&) = delete;
  OwnedExpressions& operator=(const OwnedExpressions&) = delete;
  ~OwnedExpressions() = default;

  /// Adds a program that is none of the call's own, and returns where it starts.
  std::int32_t add(const Program& program);

  [[nodiscard]] Expressions view() const {
    return {.words = words.data(),
            .word_count = static_cast<std::int32_t>(words.size()),
            .numbers = numbers.data(),
            .number_count = static_cast<std::int32_t>(numbers.size())};
  }
};

/// Arithmetic over the score and its place, of about this many operators; finite for any finite score.
Program random_score_program(Random& random, int operators);
/// Comparisons of whole numbers.
Program random_mask_program(Random& random, int operators);
/// Two tables that random programs read: floats of [3, 5], whole numbers of [7].
std::vector<TableCase> random_tables(Random& random);

}  // namespace heed::testing
