// The linear layer against the double-precision reference, at sizes around lanes, tiles and
// blocks.
#include <catch_amalgamated.hpp>

#include "heed/machine.hpp"
#include "layer_scene.hpp"
#include "reference/layers.hpp"
#include "report.hpp"

namespace heed::testing {
namespace {

/// An activation's slope is at most 1.13, that of GELU; and its own error: what activations.hpp states, here at most of
/// x = -6, below which results are small.
constexpr double kSlope = 1.13;
constexpr double kActivationError = 8e-6;

struct Scene {
  OwnedRows input;
  std::vector<float> weights;
  Index outputs;

  Scene(Random& random, Index rows, Index inputs, Index outputs_, Index padding = 0)
      : input(random_rows(random, rows, inputs, padding)),
        weights(random_numbers(random, inputs * outputs_)),
        outputs(outputs_) {}

  [[nodiscard]] WeightMatrix matrix() const { return matrix_of(weights, outputs, input.rows.length); }
};

OwnedRows run(const Scene& scene, const Pointwise& rule, Index padding = 0, Executor& executor = calling_thread()) {
  OwnedRows output(scene.input.rows.count, scene.outputs, kUntouched, padding);
  const Packed packed(scene.matrix());
  compute(AffineCall{scene.input.reading(), packed.data(), rule, output.rows}, executor);
  return output;
}

/// The largest error in units of its bound.
double worst_error(const Scene& scene, const Pointwise& rule, const OwnedRows& got) {
  const std::vector<double> products = reference::product(scene.input.reading(), scene.matrix());
  const std::vector<double> expected = reference::pointwise(products, scene.input.rows.count, scene.outputs, rule);
  double worst = 0.0;
  std::size_t at = 0;
  for (Index row = 0; row < scene.input.rows.count; ++row) {
    for (Index o = 0; o < scene.outputs; ++o, ++at) {
      double size = 0.0;
      for (Index i = 0; i < scene.input.rows.length; ++i) {
        size += std::abs(scene.input.at(row, i) *
                         static_cast<double>(scene.weights[static_cast<std::size_t>(o * scene.input.rows.length + i)]));
      }
      double bound = dot_bound(scene.input.rows.length, size);
      if (rule.bias != nullptr) bound += kUnitRoundoff * (std::abs(products[at]) + std::abs(double{rule.bias[o]}));
      double value = std::abs(products[at]) + (rule.bias == nullptr ? 0.0 : std::abs(double{rule.bias[o]}));
      if (rule.activation != Activation::none) bound = kSlope * bound + kActivationError * value;
      if (rule.factor.is_present()) {
        const double factor = std::abs(double{rule.factor.row(row % rule.factor.count)[o]});
        bound = factor * (bound + kUnitRoundoff * value);
        value *= factor;
      }
      if (rule.addend.is_present()) {
        bound += kUnitRoundoff * (value + std::abs(double{rule.addend.row(row % rule.addend.count)[o]}));
      }
      worst = std::max(worst, ratio_of(got.at(row, o), expected[at], bound));
    }
  }
  return worst;
}

void check(const Scene& scene, const Pointwise& rule) {
  const double worst = worst_error(scene, rule, run(scene, rule));
  INFO(", " << scene.input.rows.count << " rows of " << scene.input.rows.length << " to " << scene.outputs);
  report_ratio("linear", worst);
  CHECK(worst <= 1.0);
}

}  // namespace

TEST_CASE("linear gives x W^T at sizes around rows of tiles, panels and blocks of the depth") {
  Random random(500);
  for (const Index rows : {1, 2, 3, 4, 5, 6, 7, 11, 12, 13}) {
    for (const Index outputs : {1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65}) {
      const Index inputs = random.pick<Index>({1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65});
      check(Scene(random, rows, inputs, outputs, random.below(3)), {});
    }
  }
  for (const Index inputs : {127, 128, 129, 255, 256, 257, 511, 512, 513, 1025}) {
    check(Scene(random, 1, inputs, 33), {});
    check(Scene(random, 7, inputs, 19), {});
  }
  for (const Index rows : {95, 96, 97, 193}) check(Scene(random, rows, 20, 70), {});
}

TEST_CASE("linear adds bias, bends, multiplies and adds, in that order") {
  Random random(501);
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh,
                                      Activation::silu, Activation::tanh, Activation::sigmoid}) {
    for (const Index outputs : {1, 8, 21, 40}) {
      for (const Index rows : {1, 6, 10}) {
        const Scene scene(random, rows, 9, outputs);
        const std::vector<float> bias = random_numbers(random, outputs);
        const OwnedRows factor = random_rows(random, rows, outputs, 3);
        const OwnedRows addend = random_rows(random, rows % 2 == 0 ? 2 : 1, outputs, 1);
        check(scene, {.activation = activation});
        check(scene, {.activation = activation, .bias = bias.data()});
        check(scene,
              {.activation = activation, .bias = bias.data(), .factor = factor.reading(), .addend = addend.reading()});
      }
    }
  }
}

TEST_CASE("linear writes nothing beside its rows, and reads nothing beside its input's") {
  Random random(502);
  for (const Index outputs : {5, 8, 37}) {
    const Scene scene(random, 7, 11, outputs, 4);  // NaN lies between the rows
    const OwnedRows output = run(scene, {}, 3);
    CHECK(worst_error(scene, {}, output) <= 1.0);
    Index touched = 0;
    for (Index row = 0; row < 7; ++row) {
      for (Index i = outputs; i < outputs + 3; ++i) touched += output.rows.row(row)[i] != kUntouched;
    }
    CHECK(touched == 0);
  }
}

TEST_CASE("linear takes a matrix that lies the other way round") {
  Random random(503);
  const Scene scene(random, 5, 6, 10);
  std::vector<float> turned(60);
  for (std::size_t o = 0; o < 10; ++o) {
    for (std::size_t i = 0; i < 6; ++i) turned[i * 10 + o] = scene.weights[o * 6 + i];
  }
  const WeightMatrix matrix{.data = turned.data(), .outputs = 10, .inputs = 6, .output_stride = 1, .input_stride = 10};
  const Packed packed(matrix);
  OwnedRows output(5, 10, kUntouched);
  compute(AffineCall{scene.input.reading(), packed.data(), {}, output.rows});
  CHECK(output.numbers == run(scene, {}).numbers);
}

TEST_CASE("linear gives the same bits for any number of workers, and for rows among others") {
  Random random(504);
  const Scene scene(random, 200, 300, 75);
  const std::vector<float> bias = random_numbers(random, 75);
  const Pointwise rule{.activation = Activation::gelu, .bias = bias.data()};
  const OwnedRows expected = run(scene, rule);
  for (const int workers : {2, 3, 8}) {
    ReverseExecutor executor(workers);
    CHECK(run(scene, rule, 0, executor).numbers == expected.numbers);
  }
  const Packed packed(scene.matrix());
  OwnedRows some(2, 75, kUntouched);
  const Rows<const float> last{scene.input.rows.row(198), 2, 300, 300};
  compute(AffineCall{last, packed.data(), rule, some.rows});
  for (Index i = 0; i < 75; ++i) CHECK(some.at(1, i) == expected.at(199, i));
}

TEST_CASE("linear of one row has the bits that the row has among others, with any number of workers") {
  Random random(505);
  for (const Index outputs : {77, 300}) {
    for (const Index inputs : {9, 1100}) {
      const Scene scene(random, 7, inputs, outputs);
      const OwnedRows expected = run(scene, {});
      const Packed packed(scene.matrix());
      const Rows<const float> last{scene.input.rows.row(6), 1, inputs, inputs};
      ReverseExecutor several(4);
      for (Executor* const executor : {&calling_thread(), static_cast<Executor*>(&several)}) {
        OwnedRows alone(1, outputs, kUntouched);
        compute(AffineCall{last, packed.data(), {}, alone.rows}, *executor);
        CHECK(std::equal(alone.rows.row(0), alone.rows.row(0) + outputs, expected.rows.row(6)));
      }
    }
  }
}

TEST_CASE("linear stops when it is told") {
  Random random(506);
  const Scene scene(random, 3, 4, 5);
  const StopFlag stop{1};
  const Packed packed(scene.matrix());
  OwnedRows output(3, 5, kUntouched);
  CHECK(heed::run(AffineCall{scene.input.reading(), packed.data(), {}, output.rows}, calling_thread(), &stop).code() ==
        StatusCode::aborted);
  CHECK(output.rows.row(0)[0] == kUntouched);
}

TEST_CASE("linear refuses sizes that do not fit, by name") {
  Random random(507);
  const Scene scene(random, 4, 3, 5);
  const Packed packed(scene.matrix());
  const OwnedRows three = random_rows(random, 3, 5), narrow = random_rows(random, 4, 4);
  const auto fails = [&](const AffineCall& call) {
    const Status status = heed::run(call, calling_thread());
    INFO(status.message());
    CHECK(status.message().starts_with("linear: "));
    return status.code();
  };
  OwnedRows output(4, 5, kUntouched), short_output(3, 5, kUntouched);
  const Rows<const float> input = scene.input.reading();
  CHECK(fails({input, packed.data(), {}, short_output.rows}) == StatusCode::shape);
  CHECK(fails({input, nullptr, {}, output.rows}) == StatusCode::shape);
  CHECK(fails({{nullptr, 4, 3, 3}, packed.data(), {}, output.rows}) == StatusCode::shape);
  CHECK(fails({{scene.input.rows.data, 4, 3, 2}, packed.data(), {}, output.rows}) == StatusCode::shape);
  CHECK(fails({input, packed.data(), {.factor = three.reading()}, output.rows}) == StatusCode::shape);
  CHECK(fails({input, packed.data(), {.addend = narrow.reading()}, output.rows}) == StatusCode::shape);
  CHECK(fails({input, packed.data(), {.activation = static_cast<Activation>(99)}, output.rows}) == StatusCode::option);
  CHECK(output.rows.row(0)[0] == kUntouched);
}

TEST_CASE("linear of nothing is nothing") {
  Random random(508);
  const Scene scene(random, 0, 3, 5);
  CHECK(run(scene, {}).rows.count == 0);
}

}  // namespace heed::testing
