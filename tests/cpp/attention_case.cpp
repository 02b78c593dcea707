#include "attention_case.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "describe_shape.hpp"
#include "f16.hpp"

namespace heed::testing {
namespace {

std::int32_t random_length(Random& random, Index length) {
  if (random.chance(0.15)) return 0;
  if (random.chance(0.15)) return static_cast<std::int32_t>(length);
  return static_cast<std::int32_t>(random.below(length + 1));
}

/// Where sequences start that lie one after the other from 0 to `total`; some are empty.
std::vector<std::int32_t> random_starts(Random& random, Index count, Index total) {
  std::vector<std::int32_t> starts = {0};
  for (Index n = 1; n < count; ++n) {
    starts.push_back(random.chance(0.2) ? starts.back() : static_cast<std::int32_t>(random.below(total + 1)));
  }
  starts.push_back(static_cast<std::int32_t>(total));
  std::ranges::sort(starts);
  return starts;
}

float random_sink(Random& random) {
  if (random.chance(0.1)) return -kInfinity;
  if (random.chance(0.1)) return 25.0F;
  if (random.chance(0.1)) return -25.0F;
  return 3.0F * random.normal();
}

std::int32_t side_of(const std::optional<Index>& side) { return static_cast<std::int32_t>(side.value_or(kOpen)); }

void add_options(Random& random, const AttentionCase& one, AttentionTensors& made) {
  AttentionOptions& options = made.options;
  options.softcap = one.softcap.value_or(0.0F);
  options.window = {.left = side_of(one.window.left), .right = side_of(one.window.right)};
  options.dropout = one.dropout.value_or(Dropout{});
  options.normalizer = one.normalizer;
  options.top_k = static_cast<std::int32_t>(one.top_k.value_or(0));
  for (Index b = 0; b < one.batch; ++b) {
    if (one.has_query_lengths) made.query_lengths.push_back(random_length(random, one.queries));
    if (one.has_key_lengths) made.key_lengths.push_back(random_length(random, one.keys));
    if (one.has_query_offsets) {
      const Index offset = random.below(one.queries + one.keys + 4) - one.queries - 2;
      made.query_offsets.push_back(static_cast<std::int32_t>(offset));
    }
  }
  if (one.sequences > 0) {
    made.query_starts = random_starts(random, one.sequences, one.queries);
    made.key_starts = random_starts(random, one.sequences, one.keys);
    options.sequences = {made.query_starts.data(), made.key_starts.data(), static_cast<std::int32_t>(one.sequences)};
    for (Index n = 1; n < one.sequences && one.has_query_offsets; ++n) {
      made.query_offsets.push_back(static_cast<std::int32_t>(random.below(20) - 5));
    }
  }
  for (Index h = 0; h < one.heads; ++h) {
    if (one.has_alibi) made.alibi_slopes.push_back(0.2F * random.normal());
    if (one.has_sinks) made.sinks.push_back(random_sink(random));
  }
  if (one.has_query_lengths) options.query_lengths = made.query_lengths.data();
  if (one.has_key_lengths) options.key_lengths = made.key_lengths.data();
  if (one.has_query_offsets) options.query_offsets = made.query_offsets.data();
  if (one.has_alibi) options.alibi_slopes = made.alibi_slopes.data();
  if (one.has_sinks) options.sinks = made.sinks.data();
}

void add_blocks(Random& random, const AttentionCase& one, AttentionTensors& made) {
  const auto divide_up = [](Index count, Index step) { return (count + step - 1) / step; };
  const BlockCase& blocks = *one.blocks;
  const Shape shape{blocks.is_per_head ? one.batch : 1, blocks.is_per_head ? one.heads : 1,
                    divide_up(one.queries, blocks.queries), divide_up(one.keys, blocks.keys)};
  made.keep = allocate<std::uint8_t>(shape, Layout::bhnd, 0);
  for_each_element(shape, [&](Index b, Index h, Index i, Index j) {
    if (random.chance(blocks.kept)) made.keep(b, h, i, j) = static_cast<std::uint8_t>(1 + random.below(255));
  });
  made.options.blocks = {.keep = made.keep.reading(), .queries = blocks.queries, .keys = blocks.keys};
}

void add_expressions(Random& random, const AttentionCase& one, AttentionTensors& made) {
  const Program score = random_score_program(random, one.score_mod);
  const Program mask = random_mask_program(random, one.mask_mod);
  const Program weight = random_score_program(random, one.weight_mod);
  made.expressions = OwnedExpressions({one.score_mod > 0 ? &score : nullptr, one.mask_mod > 0 ? &mask : nullptr,
                                       one.weight_mod > 0 ? &weight : nullptr},
                                      random_tables(random));
  made.options.expressions = made.expressions.view();
}

/// Drawn so that scores are of a size with those of scaled dot products.
void add_score(Random& random, const AttentionCase& one, AttentionTensors& made) {
  const ScoreCase& score = one.score;
  const Index heads = score.is_per_head ? one.heads : 1;
  const Index of_query = one.query_shape()[3];
  ScoreFunction& function = made.options.score;
  function.kind = score.kind;
  const auto draw = [&](Owned<float>& owned, TensorView<const float>& view, Index rows, Index columns) {
    const float deviation = 1.0F / std::sqrt(static_cast<float>(columns));
    owned = random_tensor(random, {1, heads, rows, columns}, Layout::bhnd, deviation);
    view = owned.reading();
  };
  switch (score.kind) {
    case ScoreKind::general:
      return draw(made.w, function.w, of_query, one.head_dim);
    case ScoreKind::additive: {
      const Index hidden = score.hidden == 0 ? one.head_dim : score.hidden;
      if (score.hidden > 0) draw(made.wq, function.wq, hidden, of_query);
      if (score.hidden > 0) draw(made.wk, function.wk, hidden, one.head_dim);
      if (score.has_offset) draw(made.b, function.b, 1, hidden);
      if (score.has_weights) draw(made.v, function.v, 1, hidden);
      return;
    }
    case ScoreKind::gated:
      draw(made.w, function.w, 1, 2 * one.head_dim);
      if (score.has_offset) draw(made.b, function.b, 1, 1);
      return;
    case ScoreKind::rbf:
      draw(made.bandwidth, function.bandwidth, 1, 1);
      for (float& bandwidth : made.bandwidth.numbers) {
        bandwidth = std::sqrt(static_cast<float>(one.head_dim)) * (0.3F + std::abs(bandwidth));
      }
      return;
    default:
      return;
  }
}

std::string describe_score(const ScoreCase& score) {
  constexpr std::array kinds = {"", " dot", " cosine", " general", " additive", " gated", " rbf", " distance"};
  std::string text = kinds[static_cast<std::size_t>(score.kind)];
  if (score.is_per_head) text += " per head";
  if (score.hidden > 0) text += " hidden " + std::to_string(score.hidden);
  if (score.has_offset) text += " with b";
  if (score.has_weights) text += " with v";
  return text;
}

std::string describe_options(const AttentionCase& one) {
  constexpr std::array normalizers = {"", " sparsemax", " sigmoid", " hard", " none"};
  std::string text = describe_score(one.score) + normalizers[static_cast<std::size_t>(one.normalizer)];
  if (one.top_k) text += " top " + std::to_string(*one.top_k);
  if (one.softcap) text += " softcap " + std::to_string(*one.softcap);
  if (one.window.left) text += " left " + std::to_string(*one.window.left);
  if (one.window.right) text += " right " + std::to_string(*one.window.right);
  if (one.has_query_lengths) text += " query lengths";
  if (one.has_key_lengths) text += " key lengths";
  if (one.has_query_offsets) text += " offsets";
  if (one.has_alibi) text += " alibi";
  if (one.has_sinks) text += " sinks";
  for (const auto& [name, dtype] : {std::pair{" query f16", one.query_type}, std::pair{" key f16", one.key_type},
                                    std::pair{" value f16", one.value_type}}) {
    if (dtype == DType::f16) text += name;
  }
  if (one.dropout) text += " dropout " + std::to_string(one.dropout->p) + " " + std::to_string(one.dropout->seed);
  if (one.sequences > 0) text += " sequences " + std::to_string(one.sequences);
  if (one.score_mod > 0) text += " score_mod of " + std::to_string(one.score_mod);
  if (one.weight_mod > 0) text += " weight_mod of " + std::to_string(one.weight_mod);
  if (one.mask_mod > 0) text += " mask_mod of " + std::to_string(one.mask_mod);
  if (one.blocks) {
    text += " blocks " + std::to_string(one.blocks->queries) + " x " + std::to_string(one.blocks->keys);
    if (one.blocks->is_per_head) text += " per head";
  }
  return text;
}

std::optional<Index> random_side(Random& random) {
  if (random.chance(0.5)) return std::nullopt;
  return random.pick(std::vector<Index>{0, 1, 2, 5, 23, 48, 60, 100, 1000});
}

}  // namespace

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
  return text + describe_options(one);
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
  if (one.query_type == DType::f16) made.half_query = halve(made.query, query_layout);
  if (one.key_type == DType::f16) made.half_key = halve(made.key, one.layout);
  if (one.value_type == DType::f16) made.half_value = halve(made.value, one.layout);
  made.options.scale = one.scale;
  made.options.causal = one.causal;
  add_options(random, one, made);
  if (one.blocks) add_blocks(random, one, made);
  if (one.score_mod > 0 || one.mask_mod > 0 || one.weight_mod > 0) add_expressions(random, one, made);
  add_score(random, one, made);
  return made;
}

AttentionCase random_sizes(Random& random) {
  const Index group = random.pick(std::vector<Index>{1, 1, 2, 3});
  return {.batch = 1 + random.below(2),
          .heads = 2 * group,
          .kv_heads = 2,
          .queries = random.pick(std::vector<Index>{1, 3, 17, 64, 150}),
          .keys = random.pick(std::vector<Index>{1, 15, 97, 200, 700}),
          .head_dim = random.pick(std::vector<Index>{8, 33, 64}),
          .value_dim = random.pick(std::vector<Index>{5, 64})};
}

AttentionCase sizes_around_blocks(Random& random) {
  const Index group = 1 + random.below(3);
  return {.batch = 1 + random.below(3),
          .heads = 2 * group,
          .kv_heads = 2,
          .queries = random.pick(std::vector<Index>{1, 2, 3, 7, 8, 9, 16, 17, 33, 66}),
          .keys = random.pick(std::vector<Index>{0, 1, 5, 6, 7, 23, 24, 25, 48, 95, 96, 97, 150, 260}),
          .head_dim = random.pick(std::vector<Index>{1, 3, 8, 17, 64}),
          .value_dim = random.pick(std::vector<Index>{1, 6, 10, 33}),
          .layout = static_cast<Layout>(random.below(4))};
}

void add_random_options(Random& random, AttentionCase& one) {
  one.causal = static_cast<Causal>(random.below(3));
  if (random.chance(0.4)) one.softcap = random.pick(std::vector<float>{0.3F, 1.0F, 2.5F, 20.0F, 1000.0F});
  one.window = {.left = random_side(random), .right = random_side(random)};
  one.has_query_lengths = random.chance(0.3);
  one.has_key_lengths = random.chance(0.4);
  one.has_query_offsets = random.chance(0.4);
  one.has_alibi = random.chance(0.4);
  one.has_sinks = random.chance(0.4);
  if (random.chance(0.25)) one.dropout = Dropout{.p = random.pick(std::vector<float>{0.1F, 0.7F, 1.0F}), .seed = 21};
  if (random.chance(0.2)) one.query_type = one.key_type = DType::f16;
  if (random.chance(0.2)) one.value_type = DType::f16;
  if (random.chance(0.4)) {
    one.mask = one.score_shape();
    if (random.chance(0.5)) (*one.mask)[1] = 1;
    if (random.chance(0.3)) (*one.mask)[2] = 1;
  }
  if (random.chance(0.3)) one.bias = Shape{1, one.heads, random.chance(0.5) ? 1 : one.queries, one.keys};
}

BlockCase random_blocks(Random& random) {
  return {.queries = random.pick(std::vector<Index>{1, 5, 8, 16, 32, 64, 128, 1000}),
          .keys = random.pick(std::vector<Index>{1, 2, 8, 15, 16, 17, 32, 64, 96, 97, 128, 192, 500, 1000}),
          .is_per_head = random.chance(0.5),
          .kept = random.pick(std::vector<double>{0.1, 0.5, 0.9})};
}

void choose_normalizer(Random& random, AttentionCase& one) {
  one.normalizer = static_cast<Normalizer>(random.below(5));
  if (random.chance(0.5)) one.top_k = random.pick(std::vector<Index>{1, 2, 3, 7, 16, 40, 100, 1000});
  if (one.normalizer != Normalizer::softmax) one.has_sinks = false;
}

ScoreCase random_score(Random& random) {
  ScoreCase score{.kind = static_cast<ScoreKind>(random.below(8)),
                  .is_per_head = random.chance(0.5),
                  .has_offset = random.chance(0.5),
                  .has_weights = random.chance(0.5)};
  const bool has_matrices = score.kind == ScoreKind::additive && random.chance(0.7);
  if (has_matrices) score.hidden = random.pick(std::vector<Index>{1, 3, 8, 16, 17, 40});
  if ((has_matrices || score.kind == ScoreKind::general) && random.chance(0.5)) score.query_dim = 1 + random.below(20);
  return score;
}

}  // namespace heed::testing
