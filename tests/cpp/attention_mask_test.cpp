// Masks and biases: every shape that broadcasts, rows with nothing left, and what never to count.
#include <algorithm>
#include <catch_amalgamated.hpp>

#include "attention_check.hpp"

namespace heed::testing {
namespace {

const AttentionCase kCase = {.batch = 2, .heads = 4, .kv_heads = 2, .queries = 11, .keys = 53};

/// The full shape with any of its axes broadcast.
std::vector<Shape> broadcast_shapes(const Shape& full) {
  std::vector<Shape> shapes;
  for (unsigned repeated = 0; repeated < 16; ++repeated) {
    Shape shape = full;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      if ((repeated >> axis & 1U) != 0) shape[axis] = 1;
    }
    shapes.push_back(shape);
  }
  return shapes;
}

/// Rows that the mask leaves nothing are zeros; the others are not.
void check_empty_rows(const AttentionTensors& tensors, Index first, Index end) {
  check_tensors(tensors);
  const Results results = run(tensors.inputs(), tensors.options);
  for_each_element(results.output.view.shape, [&](Index b, Index h, Index i, Index e) {
    const bool is_empty = i >= first && i < end;
    CHECK((results.output(b, h, i, e) == 0.0F) == is_empty);
    CHECK((results.log_sum_exp(b, h, i, 0) == -kInfinity) == is_empty);
  });
  for_each_element(results.weights.view.shape, [&](Index b, Index h, Index i, Index j) {
    if (i >= first && i < end) CHECK(results.weights(b, h, i, j) == 0.0F);
  });
}

}  // namespace

TEST_CASE("a mask of every shape that broadcasts stays within the error model") {
  Random random(80);
  for (const Shape& shape : broadcast_shapes(kCase.score_shape())) {
    AttentionCase one = kCase;
    one.mask = shape;
    check_case(random, one);
  }
}

TEST_CASE("a bias of every shape that broadcasts stays within the error model") {
  Random random(81);
  for (const Shape& shape : broadcast_shapes(kCase.score_shape())) {
    AttentionCase one = kCase;
    one.bias = shape;
    check_case(random, one);
  }
}

TEST_CASE("mask, bias and both causal alignments combine") {
  Random random(82);
  for (const Causal causal : {Causal::lower_right, Causal::upper_left}) {
    for (const Index queries : {11, 53, 97}) {
      AttentionCase one = kCase;
      one.queries = queries;
      one.causal = causal;
      one.mask = Shape{2, 1, queries, 53};
      one.bias = Shape{1, 4, 1, 53};
      check_case(random, one);
    }
  }
}

TEST_CASE("keys beyond the end of a mask or bias are masked") {
  Random random(83);
  for (const Index length : {2, 23, 24, 25, 47, 48, 49, 52}) {
    AttentionCase one = kCase;
    one.mask = Shape{1, 1, 11, length};
    check_case(random, one);
    one.bias = Shape{1, 4, 1, 53 - length + 2};
    check_case(random, one);
  }
}

TEST_CASE("masks and biases may have strides of any kind") {
  Random random(84);
  AttentionTensors tensors = make_tensors(random, {.queries = 11, .keys = 53});
  // Transposed: [keys, queries] in memory.
  tensors.mask = allocate<std::uint8_t>({1, 1, 53, 11}, Layout::bhnd, 1);
  tensors.bias = random_tensor(random, {1, 1, 53, 11});
  for (std::uint8_t& byte : tensors.mask.numbers) byte = random.chance(0.5) ? 1 : 0;
  tensors.mask.view = {tensors.mask.view.data, {1, 1, 11, 53}, {0, 0, 1, 11}};
  tensors.bias.view = {tensors.bias.view.data, {1, 1, 11, 53}, {0, 0, 1, 11}};
  check_tensors(tensors);
}

TEST_CASE("rows that a mask leaves nothing are exact zeros") {
  Random random(85);
  AttentionTensors tensors = make_tensors(random, {.heads = 2, .queries = 40, .keys = 53});
  tensors.mask = allocate<std::uint8_t>({1, 1, 40, 1}, Layout::bhnd, 1);
  for (Index i = 7; i < 33; ++i) tensors.mask(0, 0, i, 0) = 0;
  check_empty_rows(tensors, 7, 33);
}

TEST_CASE("rows that a bias of -infinity leaves nothing are exact zeros") {
  Random random(86);
  AttentionTensors tensors = make_tensors(random, {.heads = 2, .queries = 40, .keys = 53});
  tensors.bias = allocate({1, 1, 40, 1}, Layout::bhnd, 0.0F);
  for (Index i = 0; i < 3; ++i) tensors.bias(0, 0, i, 0) = -kInfinity;
  check_empty_rows(tensors, 0, 3);
}

TEST_CASE("rows before the first key of a lower-right triangle are exact zeros") {
  Random random(87);
  check_empty_rows(make_tensors(random, {.heads = 2, .queries = 60, .keys = 23, .causal = Causal::lower_right}), 0, 37);
}

TEST_CASE("rows whose only keys are in the last block come out right") {
  Random random(88);
  AttentionTensors tensors = make_tensors(random, {.queries = 20, .keys = 300});
  tensors.mask = allocate<std::uint8_t>({1, 1, 20, 300}, Layout::bhnd, 0);
  for (Index i = 0; i < 20; ++i) tensors.mask(0, 0, i, 280 + i) = 1;
  check_tensors(tensors);
}

TEST_CASE("a bias of the lowest float takes a key away as long as another is left") {
  Random random(89);
  AttentionTensors tensors = make_tensors(random, {.queries = 9, .keys = 30});
  tensors.bias = allocate({1, 1, 1, 30}, Layout::bhnd, std::numeric_limits<float>::lowest());
  for (const Index j : {3, 17, 29}) tensors.bias(0, 0, 0, j) = 0.25F;
  const Results results = run(tensors.inputs(), {});
  const Comparison comparison = compare(expect(tensors.inputs(), {}), results);
  INFO(": " << comparison.where);
  CHECK(comparison.worst() <= 1.0);
}

TEST_CASE("a row of nothing but the lowest float shares its attention out evenly") {
  // 2^127 and more swallow the scores whole, in the reference as well.
  Random random(90);
  AttentionTensors tensors = make_tensors(random, {.queries = 9, .keys = 30});
  tensors.bias = allocate({1, 1, 1, 1}, Layout::bhnd, std::numeric_limits<float>::lowest());
  const Results results = run(tensors.inputs(), {});
  for_each_element(results.weights.view.shape, [&](Index b, Index h, Index i, Index j) {
    CHECK(std::abs(results.weights(b, h, i, j) - 1.0F / 30.0F) <= 1e-8F);
  });
  for_each_element(results.log_sum_exp.view.shape,
                   [&](Index b, Index h, Index i, Index j) { CHECK(std::isfinite(results.log_sum_exp(b, h, i, j))); });
}

TEST_CASE("any nonzero byte of a mask attends") {
  Random random(91);
  AttentionTensors ones = make_tensors(random, {.queries = 9, .keys = 30});
  ones.mask = allocate<std::uint8_t>({1, 1, 1, 30}, Layout::bhnd, 1);
  ones.mask(0, 0, 0, 4) = 0;
  const auto expected = run(ones.inputs(), {}).bits();
  for (const std::uint8_t truth : std::vector<std::uint8_t>{2, 127, 128, 255}) {
    for (std::uint8_t& byte : ones.mask.numbers) byte = byte == 0 ? std::uint8_t{0} : truth;
    CHECK(run(ones.inputs(), {}).bits() == expected);
  }
}

// For the address sanitiser: raw scores are wanted of keys for which there is no mask and no bias.
TEST_CASE("scores of all keys are had without reading beyond a mask or bias that is shorter") {
  Random random(84);
  for (const Index queries : {1, 11}) {
    for (const Index length : {2, 20, 52}) {
      AttentionCase one = kCase;
      one.queries = queries;
      (random.chance(0.5) ? one.mask : one.bias) = Shape{1, 1, 1, length};
      check_all_results(make_tensors(random, one));
    }
  }
}

}  // namespace heed::testing
