// One call of linear attention: its sizes, its tensors, and what it gave.
#pragma once

#include <string>
#include <vector>

#include "heed/machine.hpp"
#include "operations/linear_attention.hpp"
#include "support.hpp"

namespace heed::testing {

inline constexpr LinearRule kRules[] = {LinearRule::linear, LinearRule::gated, LinearRule::delta,
                                        LinearRule::gated_delta, LinearRule::elu};

struct LinearCase {
  LinearRule rule = LinearRule::linear;
  Index batch = 1;
  Index heads = 1;
  Index kv_heads = 0;   // of values and states; 0: heads
  Index key_heads = 0;  // 0: kv_heads
  Index queries = 5;
  Index keys = -1;  // queries
  Index head_dim = 8;
  Index value_dim = 8;
  bool has_state = false;
  bool has_wide_decay = true;
  bool has_shared_beta = false;
  bool is_causal = true;
  float strength = 1.0F;  // of decays
  Layout layout = Layout::bhnd;
};

std::string describe(const LinearCase& one);

struct LinearTensors {
  Owned<float> query, key, value, decay, beta, state;
  LinearOptions options;

  [[nodiscard]] LinearInputs inputs() const;
};

/// Keys of the delta rules have a length of about 1, as their users' have.
LinearTensors make_tensors(Random& random, const LinearCase& one);

struct LinearGot {
  Owned<float> output, state;
};

/// Outputs that are filled with a number before.
LinearGot make_results(const LinearInputs& inputs, const LinearOptions& options);

/// Heads as a tensor of its own: each so often that there are `heads`.
Owned<float> repeat_heads(const Owned<float>& tensor, Index heads);

LinearGot run(const LinearInputs& inputs, const LinearOptions& options, Executor& executor = calling_thread());

/// `view` from token `first` on, `count` of them.
template <typename View>
View tokens(View view, Index first, Index count) {
  if (!view.is_present()) return view;
  view.data = view.at(0, 0, first);
  view.shape[2] = count;
  return view;
}

/// A call of these tokens alone, from a state on.
inline LinearInputs tokens(const LinearInputs& in, Index first, Index count, const TensorView<const float>& state) {
  return {.query = tokens(in.query, first, count),
          .key = tokens(in.key, first, count),
          .value = tokens(in.value, first, count),
          .decay = tokens(in.decay, first, count),
          .beta = tokens(in.beta, first, count),
          .state = state};
}

}  // namespace heed::testing
