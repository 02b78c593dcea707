// The backward pass of attention, by flash attention's backward (Dao 2023): P is made again by tiles from the saved
// output and log-sum-exp, and five products give all gradients.
#pragma once

#include "heed/attention.hpp"

namespace heed {

/// What attention() was given, what it wrote, and the gradient of a loss with respect to its output.
struct AttentionVjpInputs {
  AttentionInputs forward;
  TensorView<const float> output;           // [B, H, L, E]
  TensorView<const float> log_sum_exp;      // [B, H, L, 1]; of a softmax, and only there
  TensorView<const float> output_gradient;  // [B, H, L, E]
  ExpressionSlopes slopes = {};             // of each function that the options have
  // [B, H, L, S], with respect to the weights that attention() returns, those that multiply the values; absent: zeros
  TensorView<const float> weights_gradient = {};
};

/// Each of the shape in which the parameter was given.
using ScoreGradients = ScoreParameters<TensorView<float>>;

/// Gradients of the loss. Any of them may be absent; each is written in whole.
struct AttentionGradients {
  TensorView<float> query;  // of the shape of the query, and so on
  TensorView<float> key;
  TensorView<float> value;
  TensorView<float> bias;      // of the shape in which the bias was given, summed over what it broadcasts to
  float* sinks = nullptr;      // [H]
  float* log_scale = nullptr;  // one number: of the logarithm of the scale, which is the scale times its gradient. That
                               // of a temperature T, by which the scale is divided, is -1 / T times it
  ScoreGradients score;
  float* tables = nullptr;  // of all tables that TableReads are of, one after the other
  Index table_numbers = 0;
};

/// Computes the gradients asked for, under the options that attention() had. Masks are selections here as well: a
/// masked pair of a query and a key adds nothing to any gradient, NaN or not, and a row with no key left has gradients
/// of zero. Top-k and the hard maximum differentiate what they kept, with the choice held fixed. Dropout drops the same
/// weights again. Softcap, ALiBi, sinks, masks and biases are differentiated as they are applied.
///
/// The key range of a head is cut into splits at fixed places. A task is a split with all the queries that read it, so
/// that the gradients of its keys and values are summed in the cache, and the gradients of the queries are summed over
/// the splits in their order: the same bits for any number of threads. Scratch grows with L + S, never with L * S.
///
/// Slices hold whole batch entries and heads, with all queries. Gradients with respect to a bias that several slices
/// share are each slice's own, and so are those of sinks, the scale, score functions and tables. Only a softmax needs
/// the saved output and log-sum-exp. Fails without writing when an input breaks a rule. int8 and pages are refused as
/// unsupported.
Status attention_vjp(const AttentionVjpInputs& inputs, const AttentionOptions& options,
                     const AttentionGradients& gradients, Executor& executor);

}  // namespace heed
