// Attention of every kind of size and layout, sampled so that each value of each axis turns up in many combinations.
#include <algorithm>
#include <catch_amalgamated.hpp>

#include "attention_check.hpp"

namespace heed::testing {
namespace {

constexpr int kCases = 400;

// Around one, the tile (6), lane counts and panels (4 to 32), the rows of a task (64) and key blocks (24 to 96).
const std::vector<Index> kKeys = {1,  2,  3,  4,  5,  6,  7,  8,  11, 12, 13,  15,  16,  17, 18,
                                  23, 24, 25, 31, 32, 33, 47, 48, 49, 71, 72,  73,  95,  96, 97,
                                  63, 64, 65, 36, 35, 37, 30, 29, 9,  10, 111, 191, 192, 193};
const std::vector<Index> kQueries = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 66, 97, 111};
const std::vector<Index> kDims = {1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 13, 15, 16,  17,  18,  23,  24,
                                  25, 31, 32, 33, 47, 48, 49, 63, 64, 65, 80, 96, 97, 111, 127, 128, 129, 130};
struct Heads {
  Index query, kv;
};
const std::vector<Heads> kHeads = {{1, 1}, {2, 2}, {3, 1}, {4, 2}, {6, 3}, {5, 1}};

/// Deals every value once, in random order, before any turns up again.
class Deck {
 public:
  Deck(Random& random, const std::vector<Index>& values) : random_(random), values_(values) {}
  Index deal() {
    if (next_ == 0) {
      for (std::size_t n = values_.size() - 1; n > 0; --n) {
        std::swap(values_[n], values_[static_cast<std::size_t>(random_.below(static_cast<Index>(n) + 1))]);
      }
    }
    const Index value = values_[next_];
    next_ = (next_ + 1) % values_.size();
    return value;
  }

 private:
  Random& random_;
  std::vector<Index> values_;
  std::size_t next_ = 0;
};

Shape random_broadcast(Random& random, const AttentionCase& one) {
  Shape shape = one.score_shape();
  for (Index& size : shape) {
    if (random.chance(0.4)) size = 1;
  }
  if (shape[3] > 2 && random.chance(0.15)) shape[3] = 2 + random.below(shape[3] - 2);  // masks the rest
  return shape;
}

}  // namespace

TEST_CASE("attention of any size, layout, mask, bias and alignment stays within the error model") {
  Random random(1);
  Deck keys(random, kKeys), queries(random, kQueries), head_dims(random, kDims), value_dims(random, kDims);
  for (int n = 0; n < kCases; ++n) {
    const Heads heads = random.pick(kHeads);
    AttentionCase one{.batch = 1 + random.below(2),
                      .heads = heads.query,
                      .kv_heads = heads.kv,
                      .queries = queries.deal(),
                      .keys = keys.deal(),
                      .head_dim = head_dims.deal(),
                      .value_dim = value_dims.deal(),
                      .layout = static_cast<Layout>(random.below(4)),
                      .causal = static_cast<Causal>(random.below(3))};
    if (random.chance(0.4)) one.mask = random_broadcast(random, one);
    if (random.chance(0.4)) one.bias = random_broadcast(random, one);
    if (random.chance(0.2)) one.scale = random.normal();
    check_case(random, one);
  }
}

TEST_CASE("a few queries against very many keys stay within the error model") {
  Random random(2);
  check_case(random, {.queries = 3, .keys = 5000, .head_dim = 16, .value_dim = 5});
  check_case(random, {.queries = 1, .keys = 20001, .head_dim = 8, .value_dim = 3, .causal = Causal::lower_right});
  check_case(random, {.heads = 8, .queries = 1, .keys = 4099, .head_dim = 64, .value_dim = 64});
}

TEST_CASE("many queries against a few keys stay within the error model") {
  Random random(3);
  check_case(random, {.queries = 2000, .keys = 3, .head_dim = 16, .value_dim = 5});
  check_case(random, {.queries = 701, .keys = 24, .causal = Causal::upper_left});
  check_case(random, {.queries = 701, .keys = 24, .causal = Causal::lower_right});
}

TEST_CASE("wide heads with small key blocks stay within the error model") {
  Random random(4);
  check_case(random, {.queries = 9, .keys = 50, .head_dim = 1000, .value_dim = 3});
  check_case(random, {.queries = 9, .keys = 50, .head_dim = 3, .value_dim = 1000});
  check_case(random, {.queries = 70, .keys = 100, .head_dim = 513, .value_dim = 511});
}

TEST_CASE("values of ones come back as ones however many keys there are") {
  // Sum of weights and weighted sum go through the same roundings: what is left is the division (u), the product
  // with it (u), and the rounding of 1 / sum next to it.
  Random random(5);
  for (const Index keys : {1, 7, 96, 97, 4096}) {
    AttentionTensors tensors = make_tensors(random, {.queries = 40, .keys = keys, .head_dim = 64, .value_dim = 64});
    std::ranges::fill(tensors.value.numbers, 1.0F);
    const Results results = run(tensors.inputs(), tensors.options);
    double worst = 0.0;
    for_each_element(results.output.view.shape, [&](Index b, Index h, Index i, Index e) {
      worst = std::max(worst, std::abs(static_cast<double>(results.output(b, h, i, e)) - 1.0));
    });
    INFO(", " << keys << " keys, error in units of u: " << worst / kUnitRoundoff);
    CHECK(worst <= 3.0 * kUnitRoundoff);
  }
}

}  // namespace heed::testing
