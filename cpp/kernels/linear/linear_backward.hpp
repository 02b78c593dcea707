// The backward pass of linear attention for one key/value head. A forward pass keeps the state at the start of each
// chunk of tokens; then, from the last chunk to the first, the states within a chunk are computed again, a few columns
// at a time, and the gradient of the state goes back through its tokens one by one.
#pragma once

#include "kernels/linear/backward_token.hpp"

namespace heed::kernels {

class LinearBackward {
 public:
  explicit LinearBackward(const LinearBackwardTask& task)
      : task_(task),
        forward_(task.forward),
        sizes_(linear_backward_sizes(kPanel, task.forward)),
        row_(sizes_.row),
        steps_(steps_of_rule(task.forward)),
        next_(task.scratch) {
    const std::ptrdiff_t rows = static_cast<std::ptrdiff_t>(kBackwardChunk) * row_;
    const std::ptrdiff_t column_rows = static_cast<std::ptrdiff_t>(kBackwardChunk) * sizes_.column_row;
    kept_states_ = take((sizes_.chunks + 1) * state_floats());
    state_gradient_ = take(state_floats());
    states_ = take(kColumns * rows);
    keys_ = take(rows);
    decays_ = {take(rows), take(rows)};
    key_gradients_ = take(rows);
    decay_gradients_ = take(rows);
    unused_ = take(row_);
    queries_ = take(forward_.heads * rows);
    query_gradients_ = take(forward_.heads * rows);
    values_ = take(column_rows);
    value_gradients_ = take(column_rows);
    output_gradients_ = take(forward_.heads * column_rows);
    residuals_ = take(kColumns * kBackwardChunk);
    betas_ = take(kBackwardChunk);
    beta_gradients_ = take(kBackwardChunk);
    factors_ = take(static_cast<std::ptrdiff_t>(forward_.heads) * kBackwardChunk);
  }

  void run() {
    load_state(forward_.state, forward_.state_stride, kept_states_);
    load_state(task_.state_gradient, task_.state_gradient_stride, state_gradient_);
    for (int c = 0; c < sizes_.chunks; ++c) keep_next_state(c);
    for (int first = 0; first < forward_.queries && !forward_.is_causal; first += kBackwardChunk) {
      const int count = at_most_a_chunk(forward_.queries - first);
      pass({.first_key = 0, .keys = 0, .first_query = first, .queries = count}, kept_state(sizes_.chunks));
    }
    for (int c = sizes_.chunks - 1; c >= 0; --c) {
      const ChunkRange chunk = keys_of(c);
      pass(chunk, kept_state(c));
    }
    store_state_gradient();
  }

 private:
  static int at_most_a_chunk(int tokens) { return tokens < kBackwardChunk ? tokens : kBackwardChunk; }

  float* take(std::ptrdiff_t floats) {
    float* const taken = next_;
    next_ += floats;
    return taken;
  }

  [[nodiscard]] std::ptrdiff_t state_floats() const { return static_cast<std::ptrdiff_t>(sizes_.all_columns) * row_; }

  /// The state before chunk c, [all_columns][row].
  [[nodiscard]] float* kept_state(int c) const { return kept_states_ + c * state_floats(); }

  /// Row t of a query head in rows of queries.
  [[nodiscard]] std::ptrdiff_t query_row(int head, int t) const {
    return (static_cast<std::ptrdiff_t>(head) * kBackwardChunk + t) * row_;
  }

  [[nodiscard]] float* output_gradients(int head, int t) const {
    return output_gradients_ + (static_cast<std::ptrdiff_t>(head) * kBackwardChunk + t) * sizes_.column_row;
  }

  [[nodiscard]] ChunkRange keys_of(int c) const {
    const int first = c * kBackwardChunk;
    const int count = at_most_a_chunk(forward_.keys - first);
    return {.first_key = first, .keys = count, .first_query = first, .queries = forward_.is_causal ? count : 0};
  }

  /// Calls visit(place in the state, row of the caller's state, its column) for every number.
  template <class Visit>
  void for_each_number(Visit visit) const {
    for (int e = 0; e < forward_.value_dim + (forward_.is_kernel ? 1 : 0); ++e) {
      const int column = e < forward_.value_dim ? e : sizes_.columns;
      for (int d = 0; d < forward_.head_dim; ++d) visit(column * row_ + d, d, e);
    }
  }

  [[gnu::noinline]] void load_state(const float* given, std::ptrdiff_t stride, float* state) const {
    clear(state, state_floats());
    if (given) for_each_number([&](int at, int d, int e) { state[at] = given[d * stride + e]; });
  }

  void store_state_gradient() const {
    const GradientRows& target = task_.state;
    if (!target.first) return;
    for_each_number([&](int at, int d, int e) { target.first[d * target.stride + e] = state_gradient_[at]; });
  }

  [[gnu::noinline]] static void clear(float* numbers, std::ptrdiff_t count) {
    for (std::ptrdiff_t i = 0; i < count; ++i) numbers[i] = 0.0F;
  }

  void keep_next_state(int c) {
    const ChunkRange chunk = keys_of(c);
    load_keys(chunk);
    for (int column = 0; column < sizes_.all_columns; column += kColumns) {
      write_tokens(chunk.keys, kept_state(c) + column * row_, column);
      copy_row(states_after(chunk.keys - 1), kept_state(c + 1) + column * row_, kColumns * row_);
    }
  }

  /// Loads what tokens of a chunk write to the state.
  [[gnu::noinline]] void load_keys(const ChunkRange& chunk) {
    const int first = chunk.first_key;
    load_rows({forward_.key.from(first * forward_.key_stride), forward_.key_stride, forward_.head_dim}, chunk.keys,
              forward_.is_kernel, keys_, row_);
    load_rows({forward_.value.from(first * forward_.value_stride), forward_.value_stride, forward_.value_dim},
              chunk.keys, false, values_, sizes_.column_row);
    for (int t = 0; t < chunk.keys; ++t) {
      if (forward_.is_kernel) values_[t * sizes_.column_row + sizes_.columns] = 1.0F;
      betas_[t] = forward_.beta ? forward_.beta[(first + t) * forward_.beta_stride] : 1.0F;
      if (!forward_.decay) continue;
      const StateDecay decay = decays_.from(t * row_);
      load_decays(forward_, first + t, 1, unused_, decay.kept, row_);
      find_state_decay(decay, row_);
    }
  }

  /// Loads queries, and the gradients of what they retrieved from the state.
  void load_queries(const ChunkRange& chunk, const float* start) {
    if (forward_.is_kernel) write_tokens(chunk.keys, start + sizes_.columns * row_, sizes_.columns);
    for (int head = 0; head < forward_.heads; ++head) {
      const std::ptrdiff_t first = head * forward_.query_head_stride + chunk.first_query * forward_.query_stride;
      load_rows({forward_.query.from(first), forward_.query_stride, forward_.head_dim}, chunk.queries,
                forward_.is_kernel, queries_ + query_row(head, 0), row_);
      const std::ptrdiff_t stride = task_.output_gradient_stride;
      const FloatRow given{
          task_.output_gradient + head * task_.output_gradient_head_stride + chunk.first_query * stride, DType::f32};
      load_rows({given, stride, forward_.value_dim}, chunk.queries, false, output_gradients(head, 0),
                sizes_.column_row);
      for (int t = 0; t < chunk.queries; ++t) {
        const float* const normaliser = chunk.keys > 0 ? states_after(t) : start + sizes_.columns * row_;
        const float factor = factor_of(queries_ + query_row(head, t), normaliser);
        factors_[head * kBackwardChunk + t] = factor;
        multiply_row(output_gradients(head, t), Batch(factor));
      }
    }
  }

  /// What an output is multiplied by: the scale, or one by the sum of its weights.
  [[nodiscard]] float factor_of(const float* query, const float* normaliser) const {
    if (!forward_.is_kernel) return forward_.scale;
    const float sum = dot(query, normaliser, row_);
    return sum == 0.0F ? 0.0F : 1.0F / sum;
  }

  void multiply_row(float* numbers, Batch factor) const {
    for (int e = 0; e < sizes_.column_row; e += kLanes) {
      (Batch::load_aligned(numbers + e) * factor).store_aligned(numbers + e);
    }
  }

  /// The columns under way after token t of the chunk.
  [[nodiscard]] float* states_after(int t) const { return states_ + static_cast<std::ptrdiff_t>(t) * kColumns * row_; }

  [[nodiscard]] Token token_at(int t, int column) const {
    const int in_columns = t * sizes_.column_row + column;
    return {.key = keys_ + t * row_,
            .decay = decays_.from(t * row_),
            .beta = betas_[t],
            .values = values_ + in_columns,
            .residuals = residuals_ + t * kColumns,
            .row = row_,
            .key_gradient = key_gradients_ + t * row_,
            .decay_gradient = decay_gradients_ + t * row_,
            .beta_gradient = beta_gradients_ + t,
            .value_gradient = value_gradients_ + in_columns};
  }

  /// Makes the states of kColumns columns after each token.
  [[gnu::noinline]] void write_tokens(int count, const float* start, int column) const {
    const float* before = start;
    for (int t = 0; t < count; ++t) {
      steps_.write(token_at(t, column), before, states_after(t));
      before = states_after(t);
    }
  }

  /// Takes the gradient of the state back from after a chunk to before it, where the state was `start`.
  [[gnu::noinline]] void pass(const ChunkRange& chunk, const float* start) {
    load_keys(chunk);
    load_queries(chunk, start);
    clear(key_gradients_, static_cast<std::ptrdiff_t>(kBackwardChunk) * row_);
    clear(decay_gradients_, static_cast<std::ptrdiff_t>(kBackwardChunk) * row_);
    clear(query_gradients_, query_row(forward_.heads, 0));
    clear(beta_gradients_, kBackwardChunk);
    for (int column = 0; column < sizes_.columns; column += kColumns) backward_columns(chunk, start, column);
    if (forward_.is_kernel) {
      for_each_query(chunk, [&](int head, int t) {
        // The loss falls with the sum of weights as with all that is divided by it.
        const std::ptrdiff_t at = query_row(head, t);
        output_gradients(head, t)[sizes_.columns] =
            -factors_[head * kBackwardChunk + t] * dot(queries_ + at, query_gradients_ + at, row_);
      });
      backward_columns(chunk, start, sizes_.columns);
    }
    store_gradients(chunk);
  }

  template <class Visit>
  void for_each_query(const ChunkRange& chunk, Visit visit) const {
    for (int head = 0; head < forward_.heads; ++head) {
      for (int t = 0; t < chunk.queries; ++t) visit(head, t);
    }
  }

  [[gnu::noinline]] void backward_columns(const ChunkRange& chunk, const float* start, int column) {
    const float* const first = start + column * row_;
    float* const gradient = state_gradient_ + column * row_;
    write_tokens(chunk.keys, first, column);
    for (int t = (chunk.keys > 0 ? chunk.keys : chunk.queries) - 1; t >= 0; --t) {
      const float* const after = chunk.keys > 0 ? states_after(t) : first;
      for (int head = 0; head < forward_.heads && chunk.queries > 0; ++head) {
        const std::ptrdiff_t at = query_row(head, t);
        backward_reading({queries_ + at, output_gradients(head, t) + column, row_, query_gradients_ + at}, after,
                         gradient);
      }
      if (chunk.keys == 0) continue;
      steps_.backward(token_at(t, column), t > 0 ? states_after(t - 1) : first, gradient);
    }
  }

  /// The slope of elu(x) + 1, of which the feature says all.
  void multiply_slopes(const float* features, float* gradients) const {
    for (int d = 0; d < row_ && forward_.is_kernel; d += kLanes) {
      const Batch slope = at_most(Batch::load_aligned(features + d), Batch(1.0F));
      (Batch::load_aligned(gradients + d) * slope).store_aligned(gradients + d);
    }
  }

  [[gnu::noinline]] static void store_row(const float* numbers, int length, float* target) {
    for (int d = 0; d < length; d += kLanes) {
      store_some(Batch::load_aligned(numbers + d), target + d, length - d < kLanes ? length - d : kLanes);
    }
  }

  void store_gradients(const ChunkRange& chunk) const {
    for_each_query(chunk, [&](int head, int t) {
      const std::ptrdiff_t at = query_row(head, t);
      multiply_slopes(queries_ + at, query_gradients_ + at);
      const GradientRows& target = task_.query;
      store_row(query_gradients_ + at, forward_.head_dim,
                target.first + head * target.head_stride + (chunk.first_query + t) * target.stride);
    });
    for (int t = 0; t < chunk.keys; ++t) {
      const int token = chunk.first_key + t;
      multiply_slopes(keys_ + t * row_, key_gradients_ + t * row_);
      store_row(key_gradients_ + t * row_, forward_.head_dim, task_.key.first + token * task_.key.stride);
      store_row(value_gradients_ + t * sizes_.column_row, forward_.value_dim,
                task_.value.first + token * task_.value.stride);
      if (task_.beta.first) task_.beta.first[token * task_.beta.stride] = beta_gradients_[t];
      if (task_.decay.first) store_decay_gradient(decay_gradients_ + t * row_, token);
    }
  }

  void store_decay_gradient(const float* numbers, int token) const {
    float* const target = task_.decay.first + token * task_.decay.stride;
    if (forward_.has_wide_decay) {
      store_row(numbers, forward_.head_dim, target);
      return;
    }
    Batch sum(0.0F);
    for (int d = 0; d < row_; d += kLanes) sum += Batch::load_aligned(numbers + d);
    *target = xsimd::reduce_add(sum);
  }

  const LinearBackwardTask& task_;
  const LinearTask& forward_;
  LinearBackwardSizes sizes_;
  int row_;
  TokenSteps steps_;
  float* next_;

  float* kept_states_;       // [chunks + 1][all_columns][row]
  float* state_gradient_;    // [all_columns][row]
  float* states_;            // [chunk][kColumns][row], after each token
  float* keys_;              // [chunk][row]
  StateDecay decays_;        // [chunk][row]
  float* key_gradients_;     // [chunk][row]
  float* decay_gradients_;   // [chunk][row]
  float* unused_;            // [row]
  float* queries_;           // [heads][chunk][row]
  float* query_gradients_;   // [heads][chunk][row]
  float* values_;            // [chunk][column_row]
  float* value_gradients_;   // [chunk][column_row]
  float* output_gradients_;  // [heads][chunk][column_row], times what the output was multiplied with
  float* residuals_;         // [chunk][kColumns], see Token
  float* betas_;             // [chunk]
  float* beta_gradients_;    // [chunk]
  float* factors_;           // [heads][chunk]
};

void linear_backward(const LinearBackwardTask& task) { LinearBackward(task).run(); }

}  // namespace heed::kernels
