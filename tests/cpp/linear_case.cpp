#include "linear_case.hpp"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <sstream>

namespace heed::testing {

std::string describe(const LinearCase& one) {
  std::ostringstream text;
  text << "rule " << static_cast<int>(one.rule) << " B " << one.batch << " H " << one.heads << " G " << one.kv_heads
       << " F " << one.key_heads << " L " << one.queries << " S " << one.keys << " D " << one.head_dim << " E "
       << one.value_dim << (one.has_state ? " state" : "") << (one.has_wide_decay ? "" : " narrow decay")
       << (one.has_shared_beta ? " shared beta" : "") << (one.is_causal ? "" : " not causal") << " strength "
       << one.strength;
  return text.str();
}

LinearInputs LinearTensors::inputs() const {
  return {query.reading(), key.reading(), value.reading(), decay.reading(), beta.reading(), state.reading()};
}

LinearTensors make_tensors(Random& random, const LinearCase& one) {
  const Index groups = one.kv_heads == 0 ? one.heads : one.kv_heads;
  const Index keys = one.keys < 0 ? one.queries : one.keys;
  const bool is_delta = one.rule == LinearRule::delta || one.rule == LinearRule::gated_delta;
  const bool is_gated = one.rule == LinearRule::gated || one.rule == LinearRule::gated_delta;
  const bool is_kernel = one.rule == LinearRule::elu;
  const float key_size = is_delta ? 1.0F / std::sqrt(static_cast<float>(one.head_dim)) : 1.0F;

  LinearTensors made;
  made.query = random_tensor(random, {one.batch, one.heads, one.queries, one.head_dim}, one.layout);
  made.key = random_tensor(random, {one.batch, one.key_heads == 0 ? groups : one.key_heads, keys, one.head_dim},
                           one.layout, key_size);
  made.value = random_tensor(random, {one.batch, groups, keys, one.value_dim}, one.layout);
  if (is_gated) {
    made.decay = random_tensor(random, {one.batch, groups, keys, one.has_wide_decay ? one.head_dim : 1}, one.layout);
    for (float& number : made.decay.numbers) number = -one.strength * std::abs(number);
  }
  if (is_delta) {
    made.beta = allocate({one.batch, one.has_shared_beta ? 1 : groups, keys, 1}, Layout::bhnd, 0.0F);
    for (float& number : made.beta.numbers) number = static_cast<float>(random.uniform());
  }
  if (one.has_state) {
    made.state = random_tensor(random, {one.batch, groups, one.head_dim, one.value_dim + (is_kernel ? 1 : 0)});
    // A sum of features is positive.
    for (float& number : made.state.numbers) number = is_kernel ? std::abs(number) : number;
  }
  made.options = {.rule = one.rule, .causal = one.is_causal};
  return made;
}

LinearGot make_results(const LinearInputs& inputs, const LinearOptions& options) {
  const Shape& q = inputs.query.shape;
  const Shape& v = inputs.value.shape;
  const Index width = v[3] + (options.rule == LinearRule::elu ? 1 : 0);
  return {.output = allocate({q[0], std::max(q[1], v[1]), q[2], v[3]}, Layout::padded, kUntouched),
          .state = allocate({q[0], v[1], q[3], width}, Layout::bhnd, kUntouched)};
}

Owned<float> repeat_heads(const Owned<float>& tensor, Index heads) {
  const Shape& shape = tensor.view.shape;
  Owned<float> made = allocate({shape[0], heads, shape[2], shape[3]}, Layout::bhnd, 0.0F);
  for_each_element(made.view.shape, [&](Index b, Index h, Index i, Index d) {
    made(b, h, i, d) = tensor(b, h * shape[1] / heads, i, d);
  });
  return made;
}

LinearGot run(const LinearInputs& inputs, const LinearOptions& options, Executor& executor) {
  LinearGot got = make_results(inputs, options);
  const LinearOutputs outputs{.output = got.output.view, .state = got.state.view};
  const Status status = linear_attention(inputs, options, outputs, executor);
  INFO(status.message());
  REQUIRE(status.is_ok());
  return got;
}

}  // namespace heed::testing
