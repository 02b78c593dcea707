// NaN and infinity: never out of a masked key or value, and out of an attended one to exactly the rows that attend.
#include <bit>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <functional>

#include "attention_check.hpp"

namespace heed::testing {
namespace {

const std::vector<float> kBadNumbers = {kNan, std::bit_cast<float>(0x7FC00001U), std::bit_cast<float>(0xFFC12345U),
                                        kInfinity, -kInfinity};
const std::vector<float> kNans = {kNan, std::bit_cast<float>(0x7FC00001U), std::bit_cast<float>(0xFFC12345U)};

/// Causal rows, a mask with holes, grouped heads, several blocks of keys.
const AttentionCase kCase = {.batch = 2,
                             .heads = 4,
                             .kv_heads = 2,
                             .queries = 45,
                             .keys = 131,
                             .head_dim = 13,
                             .value_dim = 7,
                             .causal = Causal::lower_right,
                             .mask = Shape{2, 1, 45, 131}};

/// Which numbers of the output (and which rows' log-sum-exp) should show what was put in.
struct Reach {
  std::function<bool(Index b, Index h, Index i, Index e)> output;
  std::function<bool(Index b, Index h, Index i)> log_sum_exp;
};

bool is_same(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

/// Runs `tensors` against what `clean` gave: numbers in reach are not finite, all others keep their bits.
void check_reach(const AttentionTensors& tensors, const Results& clean, const Reach& reach) {
  const Results results = run(tensors.inputs(), tensors.options);
  Index wrong = 0;
  for_each_element(results.output.view.shape, [&](Index b, Index h, Index i, Index e) {
    const float got = results.output(b, h, i, e);
    wrong += reach.output(b, h, i, e) ? std::isfinite(got) : !is_same(got, clean.output(b, h, i, e));
  });
  for_each_element(results.log_sum_exp.view.shape, [&](Index b, Index h, Index i, Index one) {
    const float got = results.log_sum_exp(b, h, i, one);
    wrong += reach.log_sum_exp(b, h, i) ? !std::isnan(got) : !is_same(got, clean.log_sum_exp(b, h, i, one));
  });
  INFO(": numbers that show it and should not, or should and do not");
  CHECK(wrong == 0);
}

/// Tells from the reference's weights who attends to whom.
class Attention {
 public:
  explicit Attention(const AttentionTensors& tensors)
      : shape_(tensors.query.view.shape),
        keys_(tensors.key.view.shape[2]),
        weights_(reference::attention(tensors.inputs(), tensors.options).weights) {}
  [[nodiscard]] bool sees(Index b, Index h, Index i, Index j) const {
    return weights_[static_cast<std::size_t>(((b * shape_[1] + h) * shape_[2] + i) * keys_ + j)] > 0.0;
  }

 private:
  Shape shape_;
  Index keys_;
  std::vector<double> weights_;
};

}  // namespace

TEST_CASE("nothing in a masked key or value reaches any result") {
  Random random(140);
  AttentionCase one = kCase;
  one.mask = Shape{1, 1, 1, one.keys};
  AttentionTensors tensors = make_tensors(random, one);
  const auto clean = run(tensors.inputs(), tensors.options).bits();
  for (const float bad : kBadNumbers) {
    for_each_element(one.key_shape(), [&](Index b, Index h, Index j, Index d) {
      if (tensors.mask(0, 0, 0, j) == 0) tensors.key(b, h, j, d) = bad;
    });
    for_each_element(one.value_shape(), [&](Index b, Index h, Index j, Index e) {
      if (tensors.mask(0, 0, 0, j) == 0) tensors.value(b, h, j, e) = bad;
    });
    INFO(", " << bad);
    CHECK(run(tensors.inputs(), tensors.options).bits() == clean);
  }
}

TEST_CASE("nothing in keys and values beyond a short mask reaches any result") {
  Random random(141);
  AttentionCase one = kCase;
  one.mask = Shape{1, 1, 1, 77};
  AttentionTensors tensors = make_tensors(random, one);
  const auto clean = run(tensors.inputs(), tensors.options).bits();
  for (Index j = 77; j < one.keys; ++j) {
    tensors.key(1, 1, j, 3) = kNan;
    tensors.value(0, 0, j, 3) = kNan;
  }
  CHECK(run(tensors.inputs(), tensors.options).bits() == clean);
}

TEST_CASE("a NaN in a key reaches exactly the rows that attend to it") {
  Random random(142);
  for (const Index j : {0, 60, 100, 130}) {
    AttentionTensors tensors = make_tensors(random, kCase);
    const Attention attention(tensors);
    const Results clean = run(tensors.inputs(), tensors.options);
    tensors.key(1, 0, j, 5) = random.pick(kNans);
    const auto row = [&](Index b, Index h, Index i) { return b == 1 && h < 2 && attention.sees(b, h, i, j); };
    INFO("key " << j);
    check_reach(tensors, clean, {[&](Index b, Index h, Index i, Index) { return row(b, h, i); }, row});
  }
}

TEST_CASE("a value that is not finite reaches exactly its element of the rows that attend to it") {
  Random random(143);
  for (const float bad : kBadNumbers) {
    for (const Index j : {0, 60, 100, 130}) {
      AttentionTensors tensors = make_tensors(random, kCase);
      const Attention attention(tensors);
      const Results clean = run(tensors.inputs(), tensors.options);
      tensors.value(0, 1, j, 6) = bad;
      INFO("key " << j << ", " << bad);
      check_reach(
          tensors, clean,
          {[&](Index b, Index h, Index i, Index e) { return b == 0 && h >= 2 && e == 6 && attention.sees(b, h, i, j); },
           [](Index, Index, Index) { return false; }});
    }
  }
}

TEST_CASE("a NaN in a query reaches exactly its row") {
  Random random(144);
  for (const Index i : {0, 7, 44}) {
    AttentionTensors tensors = make_tensors(random, kCase);
    const Results clean = run(tensors.inputs(), tensors.options);
    tensors.query(1, 2, i, 12) = random.pick(kNans);
    const auto row = [i](Index b, Index h, Index at) { return b == 1 && h == 2 && at == i; };
    check_reach(tensors, clean, {[&](Index b, Index h, Index at, Index) { return row(b, h, at); }, row});
  }
}

TEST_CASE("a NaN in a query whose keys are all masked reaches nothing") {
  Random random(145);
  AttentionCase one = kCase;
  one.queries = 40;
  one.keys = 30;
  one.mask = std::nullopt;  // rows 0 to 9 see nothing
  AttentionTensors tensors = make_tensors(random, one);
  const auto clean = run(tensors.inputs(), tensors.options).bits();
  const float before = std::exchange(tensors.query(0, 0, 9, 0), kNan);
  CHECK(run(tensors.inputs(), tensors.options).bits() == clean);
  tensors.query(0, 0, 9, 0) = before;
}

TEST_CASE("a NaN in the bias counts where its key is attended and nowhere else") {
  Random random(146);
  AttentionCase one = kCase;
  one.bias = Shape{1, 4, 1, one.keys};
  AttentionTensors tensors = make_tensors(random, one);
  tensors.bias(0, 3, 0, 99) = 0.5F;
  const Attention attention(tensors);
  const Results clean = run(tensors.inputs(), tensors.options);
  tensors.bias(0, 3, 0, 99) = kNan;
  const auto row = [&](Index b, Index h, Index i) { return h == 3 && attention.sees(b, h, i, 99); };
  check_reach(tensors, clean, {[&](Index b, Index h, Index i, Index) { return row(b, h, i); }, row});
}

TEST_CASE("the weights of a row with a NaN in its query are NaN where it attends and zero where it does not") {
  Random random(148);
  AttentionTensors tensors = make_tensors(random, kCase);
  const Attention attention(tensors);
  tensors.query(1, 2, 20, 3) = kNan;
  const Results results = run(tensors.inputs(), tensors.options);
  for (Index j = 0; j < kCase.keys; ++j) {
    INFO(", key " << j);
    const float weight = results.weights(1, 2, 20, j);
    CHECK((attention.sees(1, 2, 20, j) ? std::isnan(weight) : weight == 0.0F));
  }
}

TEST_CASE("without masks a NaN in a key or value reaches every row of its heads") {
  Random random(147);
  const AttentionCase one = {.heads = 2, .kv_heads = 2, .queries = 33, .keys = 70};
  AttentionTensors tensors = make_tensors(random, one);
  const Results clean = run(tensors.inputs(), tensors.options);
  tensors.value(0, 0, 50, 2) = kNan;
  check_reach(
      tensors, clean,
      {[](Index, Index h, Index, Index e) { return h == 0 && e == 2; }, [](Index, Index, Index) { return false; }});
  tensors.key(0, 1, 3, 0) = std::bit_cast<float>(0x7FC00001U);
  check_reach(
      tensors, clean,
      {[](Index, Index h, Index, Index e) { return h == 1 || e == 2; }, [](Index, Index h, Index) { return h == 1; }});
}

}  // namespace heed::testing
