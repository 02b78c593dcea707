// What a token does to some columns of the state, and to their gradient in the backward pass. A column is a row of
// head_dim numbers here, so all sums but two are made lane by lane.
#pragma once

#include "kernels/linear/chunk.hpp"
#include "kernels/linear/linear_backward_task.hpp"

namespace heed::kernels {

/// A token that writes to the state, and the gradients that it has so far.
struct Token {
  const float* key;
  StateDecay decay;
  float beta;           // 1 unless the rule is a delta rule
  const float* values;  // [kColumns]
  float* residuals;     // [kColumns], written times beta and the key: delta residuals, or values without a delta rule
  int row;

  float* key_gradient;
  float* decay_gradient;
  float* beta_gradient;
  float* value_gradient;  // [kColumns]
};

/// A vector of a column before a token, when it has decayed.
template <bool kDecays>
[[gnu::always_inline]] inline Batch decayed(Batch numbers, const StateDecay& decay, int d) {
  if constexpr (!kDecays) return numbers;
  return multiply_add(Batch::load_aligned(decay.kept + d), numbers, Batch::load_aligned(decay.change + d) * numbers);
}

/// sums[j] = column j . numbers.
template <bool kDecays>
[[gnu::always_inline]] inline void dot_columns(const float* columns, const Token& token, float* sums) {
  Batch dots[kColumns];
  for (Batch& dot : dots) dot = Batch(0.0F);
  for (int d = 0; d < token.row; d += kLanes) {
    const Batch key = Batch::load_aligned(token.key + d);
    for (int j = 0; j < kColumns; ++j) {
      const Batch column = decayed<kDecays>(Batch::load_aligned(columns + j * token.row + d), token.decay, d);
      dots[j] = multiply_add(column, key, dots[j]);
    }
  }
  for (int j = 0; j < kColumns; ++j) sums[j] = xsimd::reduce_add(dots[j]);
}

/// Makes the columns `after` a token of those `before` it. A delta rule subtracts from the values what the state
/// retrieves for the key, and writes the residuals.
template <bool kDecays, bool kIsDelta>
[[gnu::noinline]] void write_token(const Token& token, const float* before, float* after) {
  float retrieved[kColumns] = {};  // NOLINT(misc-const-correctness): delta rules write it
  if constexpr (kIsDelta) dot_columns<kDecays>(before, token, retrieved);
  Batch written[kColumns];
  for (int j = 0; j < kColumns; ++j) {
    token.residuals[j] = token.values[j] - retrieved[j];
    written[j] = Batch(token.beta * token.residuals[j]);
  }
  for (int d = 0; d < token.row; d += kLanes) {
    const Batch key = Batch::load_aligned(token.key + d);
    for (int j = 0; j < kColumns; ++j) {
      const int at = j * token.row + d;
      const Batch column = decayed<kDecays>(Batch::load_aligned(before + at), token.decay, d);
      multiply_add(key, written[j], column).store_aligned(after + at);
    }
  }
}

/// Turns the gradient of the columns after a token into that of those `before` it, and adds up what the token gets.
template <bool kDecays, bool kIsDelta>
[[gnu::noinline]] void backward_token(const Token& token, const float* before, float* gradient) {
  float of_written[kColumns];
  dot_columns<false>(gradient, token, of_written);
  Batch written[kColumns], of_values[kColumns];
  for (int j = 0; j < kColumns; ++j) {
    token.value_gradient[j] = token.beta * of_written[j];
    if constexpr (kIsDelta) *token.beta_gradient += of_written[j] * token.residuals[j];
    written[j] = Batch(token.beta * token.residuals[j]);
    of_values[j] = Batch(token.value_gradient[j]);
  }
  for (int d = 0; d < token.row; d += kLanes) {
    const Batch key = Batch::load_aligned(token.key + d);
    Batch of_key = Batch::load_aligned(token.key_gradient + d);
    Batch of_decay = Batch::load_aligned(token.decay_gradient + d);  // NOLINT(misc-const-correctness): decays do
    for (int j = 0; j < kColumns; ++j) {
      const int at = j * token.row + d;
      const Batch column = decayed<kDecays>(Batch::load_aligned(before + at), token.decay, d);
      Batch of_column = Batch::load_aligned(gradient + at);  // NOLINT(misc-const-correctness): delta rules do
      of_key = multiply_add(of_column, written[j], of_key);
      if constexpr (kIsDelta) {
        of_key -= column * of_values[j];
        of_column -= key * of_values[j];
      }
      if constexpr (kDecays) of_decay = multiply_add(of_column, column, of_decay);
      if constexpr (kDecays || kIsDelta) {
        decayed<kDecays>(of_column, token.decay, d).store_aligned(gradient + at);
      }
    }
    of_key.store_aligned(token.key_gradient + d);
    if constexpr (kDecays) of_decay.store_aligned(token.decay_gradient + d);
  }
}

/// What tokens do under a rule.
struct TokenSteps {
  void (*write)(const Token& token, const float* before, float* after);
  void (*backward)(const Token& token, const float* before, float* gradient);
};

template <bool kDecays, bool kIsDelta>
constexpr TokenSteps kTokenSteps{write_token<kDecays, kIsDelta>, backward_token<kDecays, kIsDelta>};

inline const TokenSteps& steps_of_rule(const LinearTask& task) {
  if (task.decay) return task.is_delta ? kTokenSteps<true, true> : kTokenSteps<true, false>;
  return task.is_delta ? kTokenSteps<false, true> : kTokenSteps<false, false>;
}

/// A query that reads the state.
struct Reading {
  const float* query;
  const float* output_gradient;  // [kColumns]
  int row;
  float* query_gradient;
};

/// Adds what a query says of the columns that it read.
[[gnu::noinline]] inline void backward_reading(const Reading& reading, const float* columns, float* gradient) {
  for (int d = 0; d < reading.row; d += kLanes) {
    const Batch query = Batch::load_aligned(reading.query + d);
    Batch of_query = Batch::load_aligned(reading.query_gradient + d);
    for (int j = 0; j < kColumns; ++j) {
      const int at = j * reading.row + d;
      const Batch of_output(reading.output_gradient[j]);
      of_query = multiply_add(Batch::load_aligned(columns + at), of_output, of_query);
      multiply_add(query, of_output, Batch::load_aligned(gradient + at)).store_aligned(gradient + at);
    }
    of_query.store_aligned(reading.query_gradient + d);
  }
}

}  // namespace heed::kernels
