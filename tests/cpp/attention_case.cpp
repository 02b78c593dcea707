#include "attention_case.hpp"

#include <array>

#include "problem/describe.hpp"

namespace heed::testing {

std::string describe(const AttentionCase& one) {
  constexpr std::array layouts = {"bhnd", "bnhd", "padded", "shared heads"};
  constexpr std::array causals = {"", " lower-right", " upper-left"};
  std::string text = "query " + heed::describe(one.query_shape()) + " key " + heed::describe(one.key_shape()) +
                     " value_dim " + std::to_string(one.value_dim) + " " +
                     layouts[static_cast<std::size_t>(one.layout)] + causals[static_cast<std::size_t>(one.causal)];
  if (one.mask) text += " mask " + heed::describe(*one.mask);
  if (one.bias) text += " bias " + heed::describe(*one.bias);
  if (one.scale) text += " scale " + std::to_string(*one.scale);
  if (one.deviation != 1.0F) text += " deviation " + std::to_string(one.deviation);
  return text;
}

AttentionTensors make_tensors(Random& random, const AttentionCase& one) {
  AttentionTensors made;
  const Layout query_layout = one.layout == Layout::shared_heads ? Layout::bhnd : one.layout;
  made.query = random_tensor(random, one.query_shape(), query_layout, one.deviation);
  made.key = random_tensor(random, one.key_shape(), one.layout, one.deviation);
  made.value = random_tensor(random, one.value_shape(), one.layout);
  if (one.mask) {
    made.mask = allocate<std::uint8_t>(*one.mask, Layout::bhnd, 1);
    for_each_element(*one.mask, [&](Index b, Index h, Index i, Index j) {
      made.mask(b, h, i, j) = random.chance(0.25) ? 0 : static_cast<std::uint8_t>(1 + random.below(255));
    });
  }
  if (one.bias) {
    made.bias = random_tensor(random, *one.bias);
    for_each_element(*one.bias, [&](Index b, Index h, Index i, Index j) {
      if (random.chance(0.1)) made.bias(b, h, i, j) = -kInfinity;
    });
  }
  made.options = {.scale = one.scale, .causal = one.causal};
  return made;
}

}  // namespace heed::testing
