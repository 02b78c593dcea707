// Rotary embedding against the double-precision reference, and what turning must leave alone.
#include <catch_amalgamated.hpp>
#include <optional>

#include "error_model.hpp"
#include "f16.hpp"
#include "heed/machine.hpp"
#include "reference/numbers.hpp"
#include "reference/rope.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

/// One angle a position for pair i, as base 10000 has it.
std::vector<double> frequencies_of(Index pairs, double base = 10000.0) {
  std::vector<double> made;
  for (Index i = 0; i < pairs; ++i)
    made.push_back(std::pow(base, -static_cast<double>(i) / static_cast<double>(pairs)));
  return made;
}

Owned<float> turn(const RopeInputs& inputs, const RopeOptions& options, Layout layout = Layout::bhnd,
                  Executor& executor = calling_thread()) {
  Owned<float> output = allocate(inputs.input.shape, layout, kUntouched);
  REQUIRE(rope(inputs, options, output.view, executor).is_ok());
  return output;
}

/// Sines and cosines are rounded once (u); each of two products and their sum, once (u); and times magnitude. Angles
/// differ from the reference's by their rounding in double precision, 2^-52 of them, and by 64 steps of 2^-52 from one
/// position to the next.
double bound_of(double x, double y, double magnitude, double largest_angle) {
  const double of_angle = 0x1p-52 * (2.0 * largest_angle + 128.0);
  return (std::abs(x) + std::abs(y)) * magnitude * (4.0 * kUnitRoundoff + of_angle) + 0x1p-148;
}

void check(const RopeInputs& inputs, const RopeOptions& options, Layout layout = Layout::bhnd) {
  const std::vector<double> expected = reference::rope(inputs, options);
  const auto [batch, heads, length, dim] = inputs.input.shape;
  const Index pairs = (options.rotary_dim == 0 ? dim : options.rotary_dim) / 2;
  double largest_angle = 0.0;
  for (Index l = 0; options.frequencies != nullptr && l < length * (options.positions_by_batch ? batch : 1); ++l) {
    const double position = options.positions == nullptr ? static_cast<double>(l) : options.positions[l];
    largest_angle = std::max(largest_angle, std::abs(position) * options.frequencies[0]);
  }
  INFO(", heads " << heads << ", length " << length << ", dim " << dim << ", pairs " << pairs);
  const Owned<float> got = turn(inputs, options, layout);
  std::size_t at = 0;
  Index wrong = 0;
  for_each_element(inputs.input.shape, [&](Index b, Index h, Index l, Index d) {
    const std::vector<double> row = reference::read_row(inputs.input, b, h, l);
    const auto is = static_cast<double>(got(b, h, l, d));
    double bound = 0.0;
    if (d < 2 * pairs) {
      const Index partner = options.interleaved ? d ^ 1 : (d + pairs) % (2 * pairs);
      const double reach = inputs.cosines.is_present() ? 4.0 : 1.0;  // of random tables
      bound = reach * bound_of(row[static_cast<std::size_t>(d)], row[static_cast<std::size_t>(partner)],
                               static_cast<double>(options.magnitude), largest_angle);
    }
    wrong += !(std::abs(is - expected[at]) <= bound);
    ++at;
  });
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("rope rotates pairs as the reference does, at sizes around lanes, both pairings") {
  Random random(400);
  for (const Index dim : {2, 4, 6, 8, 10, 16, 18, 30, 32, 34, 64, 66, 128}) {
    for (const bool interleaved : {false, true}) {
      const Layout layout = random.pick<Layout>({Layout::bhnd, Layout::padded});
      const Owned<float> input = random_tensor(random, {2, 3, 5, dim}, layout);
      const std::vector<double> frequencies = frequencies_of(dim / 2);
      check({.input = input.reading()}, {.interleaved = interleaved, .frequencies = frequencies.data()}, layout);
    }
  }
}

TEST_CASE("rope copies what it does not rotate") {
  Random random(401);
  for (const Index dim : {3, 7, 9, 17, 40, 65}) {
    for (const Index rotary_dim : {Index{2}, dim / 4 * 2, (dim - 1) / 2 * 2}) {
      if (rotary_dim < 2) continue;
      for (const bool interleaved : {false, true}) {
        const Owned<float> input = random_tensor(random, {1, 2, 3, dim});
        const std::vector<double> frequencies = frequencies_of(rotary_dim / 2);
        check({.input = input.reading()},
              {.rotary_dim = rotary_dim, .interleaved = interleaved, .frequencies = frequencies.data()});
      }
    }
  }
}

TEST_CASE("rope takes f16, positions of every kind, and a magnitude") {
  Random random(402);
  const Shape shape{2, 2, 150, 24};
  const Owned<float> input = random_tensor(random, shape);
  Owned<float> rounded = random_tensor(random, shape);
  const Owned<Float16> half = halve(rounded, Layout::bhnd);
  const std::vector<double> frequencies = frequencies_of(12);
  std::vector<double> shared, by_batch;
  for (Index l = 0; l < 150; ++l)
    shared.push_back(l < 70 ? static_cast<double>(l) + 1e6 : 0.25 * static_cast<double>(l));
  for (Index l = 0; l < 300; ++l) by_batch.push_back(static_cast<double>(random.below(5000)) - 2500.0);
  for (const bool interleaved : {false, true}) {
    RopeOptions options{.interleaved = interleaved, .frequencies = frequencies.data()};
    check({.input = half.reading()}, options);
    options.positions = shared.data();
    check({.input = input.reading()}, options);
    options.positions = by_batch.data();
    options.positions_by_batch = true;
    options.inverse = true;
    options.magnitude = 1.5F;
    check({.input = input.reading()}, options);
  }
}

TEST_CASE("rope takes tables in place of frequencies, looked up or row by row") {
  Random random(403);
  const Owned<float> input = random_tensor(random, {2, 3, 4, 10});
  const Owned<float> cosines = random_tensor(random, {1, 1, 9, 5});
  const Owned<float> sines = random_tensor(random, {1, 1, 9, 5});
  const Owned<float> cosines_by_batch = random_tensor(random, {2, 1, 4, 5});
  const Owned<float> sines_by_batch = random_tensor(random, {2, 1, 4, 5});
  const std::vector<double> positions{8, 0, 3, 3};
  for (const bool interleaved : {false, true}) {
    check({input.reading(), cosines.reading(), sines.reading()}, {.interleaved = interleaved});
    check({input.reading(), cosines.reading(), sines.reading()},
          {.interleaved = interleaved, .inverse = true, .positions = positions.data()});
    check({input.reading(), cosines_by_batch.reading(), sines_by_batch.reading()}, {.interleaved = interleaved});
  }
}

TEST_CASE("turning back what was turned gives it back") {
  Random random(404);
  const Owned<float> input = random_tensor(random, {1, 4, 200, 64});
  const std::vector<double> frequencies = frequencies_of(32);
  for (const bool interleaved : {false, true}) {
    RopeOptions options{.interleaved = interleaved, .frequencies = frequencies.data()};
    const Owned<float> turned = turn({.input = input.reading()}, options);
    options.inverse = true;
    const Owned<float> back = turn({.input = turned.reading()}, options);
    double worst = 0.0;
    for_each_element(input.view.shape, [&](Index b, Index h, Index l, Index d) {
      const Index partner = interleaved ? d ^ 1 : (d + 32) % 64;
      const double error = std::abs(static_cast<double>(back(b, h, l, d)) - static_cast<double>(input(b, h, l, d)));
      // Twice the bound of one turn, of numbers that a turn makes at most sqrt(2) times as large.
      const double bound = 2.0 * 1.5 * bound_of(input(b, h, l, d), input(b, h, l, partner), 1.0, 200.0);
      worst = std::max(worst, error / bound);
    });
    CHECK(worst <= 1.0);
  }
}

TEST_CASE("turning queries and keys by as many positions more leaves their products alone") {
  Random random(405);
  const Owned<float> query = random_tensor(random, {1, 1, 6, 32});
  const Owned<float> key = random_tensor(random, {1, 1, 6, 32});
  const std::vector<double> frequencies = frequencies_of(16);
  const auto products = [&](double shift) {
    std::vector<double> positions;
    for (Index l = 0; l < 6; ++l) positions.push_back(static_cast<double>(l * l) + shift);
    const RopeOptions options{.frequencies = frequencies.data(), .positions = positions.data()};
    const Owned<float> q = turn({.input = query.reading()}, options);
    const Owned<float> k = turn({.input = key.reading()}, options);
    std::vector<double> all;
    for (Index i = 0; i < 6; ++i) {
      for (Index j = 0; j < 6; ++j) {
        double sum = 0.0;
        for (Index d = 0; d < 32; ++d) sum += static_cast<double>(q(0, 0, i, d)) * static_cast<double>(k(0, 0, j, d));
        all.push_back(sum);
      }
    }
    return all;
  };
  const std::vector<double> here = products(0.0), there = products(777.0);
  const std::vector<double> elsewhere = products(0.5);
  for (std::size_t at = 0; at < here.size(); ++at) {
    // 32 products of numbers of size 1, each turned with an error of 4u.
    CHECK(std::abs(here[at] - there[at]) < 32.0 * 2.0 * 8.0 * kUnitRoundoff * 10.0);
    CHECK(std::abs(here[at] - elsewhere[at]) < 32.0 * 2.0 * 8.0 * kUnitRoundoff * 10.0);
  }
  CHECK(std::abs(here[1] - here[6]) > 1e-3);
}

TEST_CASE("rope gives the same bits for any number of workers, and stops when it is told") {
  Random random(406);
  const Owned<float> input = random_tensor(random, {2, 3, 200, 20});
  const std::vector<double> frequencies = frequencies_of(10);
  const RopeOptions options{.frequencies = frequencies.data()};
  const Owned<float> expected = turn({.input = input.reading()}, options);
  for (const int workers : {2, 3, 7}) {
    ReverseExecutor executor(workers);
    CHECK(turn({.input = input.reading()}, options, Layout::bhnd, executor).numbers == expected.numbers);
  }
  const StopFlag stop{1};
  RopeOptions stopped = options;
  stopped.stop = &stop;
  const Owned<float> output = allocate(input.view.shape, Layout::bhnd, kUntouched);
  CHECK(rope({.input = input.reading()}, stopped, output.view, calling_thread()).code() == StatusCode::aborted);
  CHECK(output(0, 0, 0, 0) == kUntouched);
}

TEST_CASE("rope of nothing is nothing") {
  const std::vector<double> frequencies = frequencies_of(2);
  for (const Shape shape : {Shape{0, 2, 3, 4}, Shape{1, 0, 3, 4}, Shape{1, 2, 0, 4}}) {
    const Owned<float> input = allocate(shape, Layout::bhnd, 0.0F);
    check({.input = input.reading()}, {.frequencies = frequencies.data()});
  }
}

}  // namespace heed::testing
