// What should not change a result, or change it in a known way, whatever the right result is.
#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <numeric>

#include "attention_check.hpp"

namespace heed::testing {
namespace {

const AttentionCase kCase = {.heads = 4, .kv_heads = 2, .queries = 37, .keys = 113, .head_dim = 20, .value_dim = 9};

std::vector<Index> shuffled(Random& random, Index count) {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  for (Index n = count - 1; n > 0; --n) {
    std::swap(order[static_cast<std::size_t>(n)], order[static_cast<std::size_t>(random.below(n + 1))]);
  }
  return order;
}

/// The same tensor with row i taken from order[i].
Owned<float> permuted(const Owned<float>& tensor, const std::vector<Index>& order) {
  Owned<float> result = allocate(tensor.view.shape, Layout::bhnd, 0.0F);
  for_each_element(tensor.view.shape, [&](Index b, Index h, Index i, Index d) {
    result(b, h, i, d) = tensor(b, h, order[static_cast<std::size_t>(i)], d);
  });
  return result;
}

/// The largest difference between two outputs, as a multiple of the two bounds together.
double difference(const Results& a, const Results& b, const Expected& expected) {
  double worst = 0.0;
  std::size_t row = 0;
  const Shape& shape = a.output.view.shape;
  for_each_element({shape[0], shape[1], shape[2], 1}, [&](Index batch, Index h, Index i, Index) {
    for (Index e = 0; e < shape[3]; ++e) {
      const double apart =
          std::abs(static_cast<double>(a.output(batch, h, i, e)) - static_cast<double>(b.output(batch, h, i, e)));
      if (apart > 0.0) {
        worst = std::max(worst, apart / (2.0 * expected.bounds[row].output[static_cast<std::size_t>(e)]));
      }
    }
    ++row;
  });
  return worst;
}

/// The keys from `begin` up to `end` of the same call.
AttentionInputs between(AttentionInputs inputs, Index begin, Index end) {
  inputs.key.data = inputs.key.at(0, 0, begin);
  inputs.value.data = inputs.value.at(0, 0, begin);
  inputs.mask.data += begin * inputs.mask.strides[3];
  inputs.key.shape[2] = inputs.value.shape[2] = inputs.mask.shape[3] = end - begin;
  return inputs;
}

/// One part of the keys of a call: what came out, and how far that may be from what is right.
struct Part {
  Results results;
  Expected expected;

  Part(const AttentionInputs& inputs, const AttentionOptions& options)
      : results(run(inputs, options)), expected(expect(inputs, options)) {}

  [[nodiscard]] double log_sum_exp(Index h, Index i) const {
    return static_cast<double>(results.log_sum_exp(0, h, i, 0));
  }
  [[nodiscard]] double output(Index h, Index i, Index e) const {
    return static_cast<double>(results.output(0, h, i, e));
  }
  [[nodiscard]] const RowBounds& bounds(Index h, Index i) const {
    return expected.bounds[static_cast<std::size_t>(h * results.output.view.shape[2] + i)];
  }
};

/// Merged by the definition: outputs by their shares of the sum of both exp(lse), zeros where that is 0. To first order
/// an error in either lse moves both shares by their product.
void check_merged(const Part& whole, const Part& one, const Part& other, Index h, Index i) {
  const double sum = std::exp(one.log_sum_exp(h, i)) + std::exp(other.log_sum_exp(h, i));
  const auto share_of = [&](const Part& part) { return sum == 0.0 ? 0.0 : std::exp(part.log_sum_exp(h, i)) / sum; };
  const double share = share_of(one), rest = share_of(other);
  const RowBounds &of_whole = whole.bounds(h, i), &of_one = one.bounds(h, i), &of_other = other.bounds(h, i);

  const double got = whole.log_sum_exp(h, i);
  const double bound = of_whole.log_sum_exp + share * of_one.log_sum_exp + rest * of_other.log_sum_exp;
  CHECK((got == std::log(sum) || std::abs(got - std::log(sum)) <= bound));

  const double of_shares = share * rest * (of_one.log_sum_exp + of_other.log_sum_exp);
  for (Index e = 0; e < whole.results.output.view.shape[3]; ++e) {
    const auto at = static_cast<std::size_t>(e);
    const double merged = share * one.output(h, i, e) + rest * other.output(h, i, e);
    const double apart = std::abs(one.output(h, i, e) - other.output(h, i, e));
    CHECK(std::abs(whole.output(h, i, e) - merged) <=
          of_whole.output[at] + share * of_one.output[at] + rest * of_other.output[at] + of_shares * apart);
  }
}

}  // namespace

TEST_CASE("the order of keys with their values does not matter") {
  Random random(150);
  AttentionTensors tensors = make_tensors(random, kCase);
  const Expected expected = expect(tensors.inputs(), {});
  const Results before = run(tensors.inputs(), {});
  const std::vector<Index> order = shuffled(random, kCase.keys);
  const Owned<float> key = permuted(tensors.key, order);
  const Owned<float> value = permuted(tensors.value, order);
  AttentionInputs inputs = tensors.inputs();
  inputs.key = key.reading();
  inputs.value = value.reading();
  CHECK(difference(before, run(inputs, {}), expected) <= 1.0);
}

TEST_CASE("permuted queries give permuted results, bit for bit") {
  Random random(151);
  AttentionTensors tensors = make_tensors(random, kCase);
  const Results before = run(tensors.inputs(), {});
  const std::vector<Index> order = shuffled(random, kCase.queries);
  const Owned<float> query = permuted(tensors.query, order);
  AttentionInputs inputs = tensors.inputs();
  inputs.query = query.reading();
  const Results after = run(inputs, {});
  Index wrong = 0;
  for_each_element(after.output.view.shape, [&](Index b, Index h, Index i, Index e) {
    wrong += after.output(b, h, i, e) != before.output(b, h, order[static_cast<std::size_t>(i)], e);
  });
  for_each_element(after.weights.view.shape, [&](Index b, Index h, Index i, Index j) {
    wrong += after.weights(b, h, i, j) != before.weights(b, h, order[static_cast<std::size_t>(i)], j);
  });
  CHECK(wrong == 0);
}

TEST_CASE("a constant added to a row of the bias changes its log-sum-exp and nothing else") {
  Random random(152);
  AttentionCase one = kCase;
  one.bias = one.score_shape();
  AttentionTensors tensors = make_tensors(random, one);
  const Results before = run(tensors.inputs(), {});
  AttentionTensors shifted = make_tensors(random, one);
  for_each_element(one.score_shape(), [&](Index b, Index h, Index i, Index j) {
    shifted.bias(b, h, i, j) = tensors.bias(b, h, i, j) + 8.0F;
  });
  AttentionInputs inputs = tensors.inputs();
  inputs.bias = shifted.bias.reading();
  const Expected expected = expect(inputs, {});
  const Results after = run(inputs, {});
  CHECK(difference(before, after, expected) <= 1.0);
  for_each_element(after.log_sum_exp.view.shape, [&](Index b, Index h, Index i, Index) {
    CHECK(after.log_sum_exp(b, h, i, 0) - before.log_sum_exp(b, h, i, 0) == Catch::Approx(8.0).epsilon(1e-6));
  });
}

TEST_CASE("the first queries of an upper-left triangle give the bits of a shorter call") {
  Random random(153);
  AttentionCase one = kCase;
  one.queries = one.keys = 100;
  one.causal = Causal::upper_left;
  AttentionTensors tensors = make_tensors(random, one);
  for (const Index length : {1, 31, 32, 33, 99}) {
    AttentionInputs prefix = tensors.inputs();
    prefix.query.shape[2] = prefix.key.shape[2] = prefix.value.shape[2] = length;
    const Results whole = run(tensors.inputs(), tensors.options);
    const Results part = run(prefix, tensors.options);
    Index wrong = 0;
    for_each_element(part.output.view.shape, [&](Index b, Index h, Index i, Index e) {
      wrong += part.output(b, h, i, e) != whole.output(b, h, i, e);
    });
    INFO(", " << length << " queries");
    CHECK(wrong == 0);
  }
}

TEST_CASE("a batch entry has the bits that it has alone, however much longer another is") {
  Random random(156);
  for (const Index queries : {1, 3, 37}) {
    for (const DType dtype : {DType::f32, DType::f16}) {
      AttentionCase one = {.batch = 2, .heads = 4, .kv_heads = 2, .queries = queries, .keys = 310, .head_dim = 64};
      one.key_type = one.value_type = dtype;
      one.causal = Causal::lower_right;
      AttentionTensors tensors = make_tensors(random, one);
      for (const std::int32_t length : {40, 64, 97, 130, 250}) {
        const std::int32_t lengths[] = {length, 310};
        tensors.options.key_lengths = lengths;
        AttentionInputs alone = tensors.inputs();
        alone.query.shape[0] = alone.key.shape[0] = alone.value.shape[0] = 1;
        alone.key.shape[2] = alone.value.shape[2] = length;
        AttentionOptions options = tensors.options;
        options.key_lengths = nullptr;
        for (const Wanted& wanted : {Wanted{.weights = false}, Wanted{}, Wanted{.scores = ScoreStage::raw}}) {
          const Results both = run(tensors.inputs(), tensors.options, wanted);
          const Results own = run(alone, options, wanted);
          Index wrong = 0;
          for_each_element(own.output.view.shape, [&](Index b, Index h, Index i, Index e) {
            wrong += own.output(b, h, i, e) != both.output(b, h, i, e);
          });
          for_each_element(own.scores.view.shape, [&](Index b, Index h, Index i, Index j) {
            wrong += own.scores(b, h, i, j) != both.scores(b, h, i, j);
          });
          INFO(", " << queries << " queries, " << length << " keys, scores " << wanted.scores.has_value());
          CHECK(wrong == 0);
        }
      }
    }
  }
}

TEST_CASE("scaled values give scaled outputs, bit for bit when the factor is a power of two") {
  Random random(154);
  AttentionTensors tensors = make_tensors(random, kCase);
  const Results before = run(tensors.inputs(), {});
  for (float& number : tensors.value.numbers) number *= 0.25F;
  const Results after = run(tensors.inputs(), {});
  for (float& number : tensors.value.numbers) number *= 4.0F;
  Index wrong = 0;
  for_each_element(after.output.view.shape, [&](Index b, Index h, Index i, Index e) {
    wrong += after.output(b, h, i, e) != 0.25F * before.output(b, h, i, e);
  });
  CHECK(wrong == 0);
}

TEST_CASE("the weights of a row add up to one and give its output, within the bounds of both") {
  Random random(155);
  AttentionTensors tensors = make_tensors(random, kCase);
  const Expected expected = expect(tensors.inputs(), {});
  const Results results = run(tensors.inputs(), {});
  std::size_t row = 0;
  for_each_element({1, kCase.heads, kCase.queries, 1}, [&](Index b, Index h, Index i, Index) {
    const RowBounds& bounds = expected.bounds[row++];
    double sum = 0.0, sum_bound = 0.0;
    double output = 0.0, output_bound = bounds.output[3];
    for (Index j = 0; j < kCase.keys; ++j) {
      const auto weight = static_cast<double>(results.weights(b, h, i, j));
      const auto value = static_cast<double>(tensors.value(b, h / 2, j, 3));
      sum += weight;
      sum_bound += bounds.weights[static_cast<std::size_t>(j)];
      output += weight * value;
      output_bound += bounds.weights[static_cast<std::size_t>(j)] * std::abs(value);
    }
    CHECK(std::abs(sum - 1.0) <= sum_bound);
    CHECK(std::abs(output - static_cast<double>(results.output(b, h, i, 3))) <= output_bound);
  });
}

TEST_CASE("two halves of the keys, combined by their log-sum-exp, are the whole") {
  Random random(156);
  for (const bool has_sinks : {false, true}) {
    for (const Index queries : {Index{1}, kCase.queries}) {
      AttentionCase one = kCase;
      one.queries = queries;
      one.mask = one.score_shape();
      one.has_sinks = has_sinks;
      for (const Index cut : {1, 32, 60, 112}) {
        AttentionTensors tensors = make_tensors(random, one);
        // Rows of four kinds: with both halves, without the first, without the second, without either. A sink goes with
        // the keys that it is beside, the second half's, which no row lacks then.
        for_each_element(one.score_shape(), [&](Index b, Index h, Index i, Index j) {
          const Index kind = (h + i) % 4;
          const bool is_closed = j < cut ? kind % 2 == 1 : kind >= 2 && !has_sinks;
          if (is_closed) tensors.mask(b, h, i, j) = 0;
          if (!is_closed && (j == cut - 1 || j == cut)) tensors.mask(b, h, i, j) = 1;
        });
        AttentionOptions without = tensors.options;
        without.sinks = nullptr;
        const Part whole(tensors.inputs(), tensors.options);
        const Part first(between(tensors.inputs(), 0, cut), without);
        const Part second(between(tensors.inputs(), cut, one.keys), tensors.options);
        INFO(", " << queries << " queries, cut at " << cut << ", sinks " << has_sinks);
        for (Index h = 0; h < one.heads; ++h) {
          for (Index i = 0; i < queries; ++i) check_merged(whole, first, second, h, i);
        }
      }
    }
  }
}

}  // namespace heed::testing
