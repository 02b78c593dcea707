// The enumerations and sizes that operations, kernels and JavaScript share. bindings/ prints them for TypeScript. What
// a call carries is a word, of which `last` is the highest number that means anything.
#pragma once

#include <cstdint>

namespace heed {

/// The type of numbers in memory; kernels compute in f32. int8 keys and values lie in tiles: see i8_tile.hpp.
enum class DType : std::uint8_t { f32 = 0, f16 = 1, i8_keys = 2, i8_values = 3 };

constexpr bool is_int8(DType dtype) { return dtype == DType::i8_keys || dtype == DType::i8_values; }

constexpr int bytes_of(DType dtype) { return is_int8(dtype) ? 1 : (dtype == DType::f16 ? 2 : 4); }

/// Whether an enumerator that a caller gave is one.
template <class Enum>
constexpr bool is_known(Enum enumerator) {
  return enumerator <= Enum::last;
}

/// Where the triangle of a causal mask is anchored. Query i sees keys
/// j <= i + offset, with offset S - L (lower_right) or 0 (upper_left).
enum class Causal : std::uint32_t { none = 0, lower_right = 1, upper_left = 2, last = upper_left };

enum class ScoreKind : std::uint32_t {
  scaled_dot = 0,  // q . k, with a scale of 1 / sqrt(D) unless given; it is 1 for all others
  dot = 1,         // q . k
  cosine = 2,      // q . k / (|q| |k|); 0 where one of them is shorter than 2^-126
  general = 3,     // q . (w k)
  additive = 4,    // v . tanh(wq q + wk k + b)
  gated = 5,       // sigmoid(w . [q; k] + b) * (q . k)
  rbf = 6,         // -|q - k|^2 / (2 bandwidth^2)
  distance = 7,    // -|q - k|
  last = distance,
};

/// What turns the scores of a row into weights.
enum class Normalizer : std::uint32_t {
  softmax = 0,
  sparsemax = 1,  // max(score - t, 0), with the t by which they add up to 1
  sigmoid = 2,    // 1 / (1 + exp(-score)), each by itself
  hard = 3,       // 1 for the highest score, the first of equals, and 0
  none = 4,       // the scores themselves
  last = none,
};

/// The stage at which the caller gets the scores.
enum class ScoreStage : std::uint32_t {
  raw = 0,     // scale * score
  capped = 1,  // after softcap
  masked = 2,  // after ALiBi and bias; -infinity where masked
  last = masked,
};

enum class Activation : std::uint32_t {
  none = 0,
  relu = 1,
  gelu = 2,       // x times the normal distribution at x
  gelu_tanh = 3,  // its approximation, x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3)))
  silu = 4,       // x / (1 + exp(-x))
  tanh = 5,
  sigmoid = 6,
  last = sigmoid,
};

/// How weights are stored: in GGML's blocks along a row, or as they are. d and m are f16, u is unsigned.
enum class WeightFormat : std::uint32_t {
  f16 = 0,
  bf16 = 1,
  int8 = 2,      // Q8_0: d q, 32 numbers in 34 bytes
  int4 = 3,      // Q4_0: d (u - 8), 32 numbers in 18 bytes
  int4_min = 4,  // Q4_1: d u + m, 32 numbers in 20 bytes
  q4_k = 5,      // Q4_K: eight times 32 numbers d s u - m t in 144 bytes, with s and t of 6 bits
  last = q4_k,
};

/// How key k and value v update the state, D x E, with decay g and beta b. Then a query q reads scale * q^T state.
enum class LinearRule : std::uint32_t {
  linear = 0,       // state + k v^T
  gated = 1,        // exp(g) state + k v^T
  delta = 2,        // state + b k (v - state^T k)^T
  gated_delta = 3,  // the same with exp(g) state in place of state
  elu = 4,          // as linear, of f(k) and f(q) with f(x) = elu(x) + 1, divided by f(q) * (sum of f(k))
  last = elu,
};

/// The instructions of expressions. All values are floats; whole numbers are exact up to 2^24, and true is 1. Operands
/// and results are registers of three kinds: rows hold a number for each row, keys one for each key, tiles one for each
/// pair of both. An operator that others can say is no opcode: `not` is 1 - a, a remainder a - b * floor(a / b).
enum class Opcode : std::uint8_t {
  constant,  // the immediate
  batch,     // the index of the batch entry, head, query or key, in the whole call where this one is a slice
  head,
  query,
  key,           // a register of keys
  broadcast,     // a tile from a register of keys
  at,            // reads the table that the immediate names, at an index for each axis, clamped to its ends
  select,        // b where a is not 0, else c
  multiply_add,  // a * b + c
  abs,
  floor,
  sqrt,
  exp,
  log,
  tanh,
  add,
  sub,
  mul,
  div,
  min,  // which is `and` of true and false
  max,  // `or`
  less,
  less_equal,
  equal,
};
inline constexpr int kOpcodes = static_cast<int>(Opcode::equal) + 1;

enum class RegisterKind : std::uint8_t { row = 0, key = 1, tile = 2 };

/// A register is named by kind * kRegistersOfKind + number. Tile 0 is what a program rewrites: the scores, or the
/// weights.
inline constexpr int kRegistersOfKind = 256;
inline constexpr int kMostTiles = 24;
inline constexpr int kMostInstructions = 1024;
inline constexpr int kTableWords = 6;        // where its numbers start, how many axes, four sizes
inline constexpr int kProgramHeader = 7;     // instructions and registers by kind, the result
inline constexpr int kInstructionWords = 7;  // opcode, result, four operands, immediate

}  // namespace heed
