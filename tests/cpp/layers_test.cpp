// Norms, functions of each number, embeddings and gated recurrent units against the double-precision reference.
#include <catch_amalgamated.hpp>

#include "heed/machine.hpp"
#include "layer_scene.hpp"
#include "operations/gather.hpp"
#include "reference/layers.hpp"
#include "report.hpp"

namespace heed::testing {
namespace {

/// Errors in units of 1 / deviation, to first order, for numbers x of a row of n, with spread s = max |x - mean|:
///   mean       n / 4 partial sums in each of at least 4 lanes and ways, of numbers up to most: kGrowth u sqrt(n) most
///   variance   relative: twice the mean's error over the deviation, squared as it is the centre; kGrowth u sqrt(n) +
///   3u result     three roundings more, of |x - mean| inverse |weight|, and one of it and bias
double norm_bound(const Rows<const float>& input, const RowNorm& norm, const reference::NormalizedRows& exact,
                  Index row, Index i) {
  double most = 0.0;
  for (Index j = 0; j < input.length; ++j) most = std::max(most, std::abs(static_cast<double>(input.row(row)[j])));
  const auto at = static_cast<std::size_t>(row);
  const double inverse = exact.inverse_deviation[at];
  const double weight = norm.weight == nullptr ? 1.0 : std::abs(static_cast<double>(norm.weight[i]));
  const double bias = norm.bias == nullptr ? 0.0 : std::abs(static_cast<double>(norm.bias[i]));
  const double terms = kGrowth * kUnitRoundoff * std::sqrt(static_cast<double>(input.length) + 4.0);
  const double of_mean = norm.is_centred ? terms * most : 0.0;
  const double size = std::abs(static_cast<double>(input.row(row)[i]) - exact.mean[at]) * inverse;
  const double of_variance = terms + std::pow(of_mean * inverse, 2.0) + 4.0 * kUnitRoundoff;
  return weight * (of_mean * inverse + size * (of_variance + 4.0 * kUnitRoundoff) + kUnitRoundoff * most * inverse) +
         kUnitRoundoff * (bias + weight * size) + 0x1p-140;
}

void check_norm(const OwnedRows& input, const RowNorm& norm) {
  const reference::NormalizedRows exact = reference::normalize_rows(input.reading(), norm);
  const Index count = input.rows.count;
  OwnedRows output(count, input.rows.length, kUntouched, 2);
  compute(NormCall{input.reading(), norm, output.rows});
  double worst = 0.0;
  std::size_t at = 0;
  for (Index row = 0; row < count; ++row) {
    for (Index i = 0; i < input.rows.length; ++i, ++at) {
      const double bound = norm_bound(input.reading(), norm, exact, row, i);
      worst = std::max(worst, ratio_of(output.at(row, i), exact.output[at], bound));
    }
    CHECK(output.rows.row(row)[input.rows.length] == kUntouched);
  }
  INFO(input.rows.length << " numbers");
  report_ratio(norm.is_centred ? "layer norm" : "rms norm", worst);
  CHECK(worst <= 1.0);
}

}  // namespace

TEST_CASE("norms are what they are defined to be, at lengths around lanes and ways") {
  Random random(510);
  for (const bool is_centred : {true, false}) {
    for (const Index length : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 257, 768, 1000}) {
      const OwnedRows input = random_rows(random, 3, length, random.below(3), 2.5F);
      const std::vector<float> weight = random_numbers(random, length), bias = random_numbers(random, length);
      check_norm(input, {.is_centred = is_centred});
      check_norm(input, {.is_centred = is_centred, .epsilon = 0.1F, .weight = weight.data()});
      check_norm(input, {.is_centred = is_centred, .epsilon = 1e-12F, .weight = weight.data(), .bias = bias.data()});
    }
  }
}

TEST_CASE("a row far from zero keeps its variance") {
  Random random(511);
  OwnedRows input = random_rows(random, 4, 300);
  for (float& number : input.numbers) number += 1000.0F;
  check_norm(input, {});
}

TEST_CASE("norms come out for rows whose squares leave the range") {
  Random random(512);
  for (const float size : {1e30F, 1e19F, 1e-15F, 1e-25F, 1e-38F}) {
    for (const bool is_centred : {true, false}) {
      INFO(size << (is_centred ? " centred" : ""));
      OwnedRows input = random_rows(random, 2, 70);
      for (float& number : input.numbers) number *= size;
      check_norm(input, {.is_centred = is_centred, .epsilon = 0.0F});
      check_norm(input, {.is_centred = is_centred, .epsilon = 1e-5F});
    }
  }
}

TEST_CASE("the norm of equal numbers is zero, or with no mean taken off one") {
  for (const Index length : {4, 9, 100}) {
    const OwnedRows input(1, length, 3.0F);
    OwnedRows output(1, length, kUntouched);
    compute(NormCall{input.reading(), {}, output.rows});
    for (Index i = 0; i < length; ++i) CHECK(output.rows.row(0)[i] == 0.0F);
    compute(NormCall{input.reading(), {.is_centred = false}, output.rows});
    for (Index i = 0; i < length; ++i) CHECK(std::abs(output.at(0, i) - 1.0) < 2e-6);
  }
}

TEST_CASE("norms spoil only the row that has a NaN, and give the same bits for any number of workers") {
  Random random(513);
  OwnedRows input = random_rows(random, 40, 700);
  input.rows.row(7)[3] = kNan;
  OwnedRows expected(40, 700, kUntouched);
  compute(NormCall{input.reading(), {}, expected.rows});
  CHECK(std::isnan(expected.rows.row(7)[0]));
  ReverseExecutor executor(3);
  OwnedRows output(40, 700, kUntouched);
  compute(NormCall{input.reading(), {}, output.rows}, executor);
  Index different = 0, not_numbers = 0;
  for (Index row = 0; row < 40; ++row) {
    for (Index i = 0; i < 700 && row != 7; ++i) {
      different += output.rows.row(row)[i] != expected.rows.row(row)[i];
      not_numbers += std::isnan(output.rows.row(row)[i]);
    }
  }
  CHECK(different == 0);
  CHECK(not_numbers == 0);
}

TEST_CASE("norms refuse what breaks a rule") {
  const OwnedRows input(2, 3, 1.0F);
  OwnedRows output(2, 3, kUntouched), narrow(2, 2, kUntouched);
  const auto code = [&](const RowNorm& norm, const Rows<float>& target, const StopFlag* stop = nullptr) {
    return run(NormCall{input.reading(), norm, target}, calling_thread(), stop).code();
  };
  CHECK(code({}, narrow.rows) == StatusCode::shape);
  CHECK(code({.epsilon = -1.0F}, output.rows) == StatusCode::option);
  CHECK(code({.epsilon = kNan}, output.rows) == StatusCode::option);
  const StopFlag stop{1};
  CHECK(code({}, output.rows, &stop) == StatusCode::aborted);
  CHECK(output.rows.row(0)[0] == kUntouched);
}

TEST_CASE("pointwise activates, multiplies and adds in place as well, with rows that repeat") {
  Random random(514);
  for (const Index length : {1, 5, 8, 33}) {
    const OwnedRows input = random_rows(random, 12, length);
    const OwnedRows addend = random_rows(random, 4, length);
    const std::vector<float> bias = random_numbers(random, length);
    const Pointwise rule{.activation = Activation::relu, .bias = bias.data(), .addend = addend.reading()};
    std::vector<double> numbers;
    for (Index row = 0; row < 12; ++row) {
      for (Index i = 0; i < length; ++i) numbers.push_back(input.at(row, i));
    }
    const std::vector<double> expected = reference::pointwise(numbers, 12, length, rule);
    OwnedRows made(12, length, kUntouched);
    std::copy(input.numbers.begin(), input.numbers.end(), made.numbers.begin());
    const Rows<const float> itself = made.reading();
    compute(PointwiseCall{itself, rule, made.rows});
    double worst = 0.0;
    for (std::size_t at = 0; at < expected.size(); ++at) {
      const double error = std::abs(double{made.numbers[at]} - expected[at]);
      worst = std::max(worst, error / (kUnitRoundoff * 16.0));
    }
    CHECK(worst <= 1.0);
  }
}

TEST_CASE("an embedding is the rows that were asked for, and refuses those that are not there") {
  Random random(515);
  const OwnedRows table = random_rows(random, 5, 3, 2);
  OwnedRows output(4, 3, kUntouched);
  const std::vector<std::int32_t> indices{4, 0, 4, 2};
  compute(GatherCall{table.reading(), indices.data(), output.rows});
  for (Index row = 0; row < 4; ++row) {
    for (Index i = 0; i < 3; ++i) CHECK(output.at(row, i) == table.at(indices[static_cast<std::size_t>(row)], i));
  }
  for (const std::int32_t bad : {-1, 5, 2147483647}) {
    OwnedRows untouched(4, 3, kUntouched);
    const std::vector<std::int32_t> wrong{0, 1, bad, 2};
    const Status status = run(GatherCall{table.reading(), wrong.data(), untouched.rows}, calling_thread());
    CHECK(status.code() == StatusCode::option);
    CHECK(status.message().find("number 2 is " + std::to_string(bad)) != std::string::npos);
    CHECK(untouched.rows.row(0)[0] == kUntouched);
  }
}

namespace {

struct GruScene {
  OwnedRows gates;
  std::vector<float> matrices, bias;
  OwnedRows state;
  GruOptions options;
  Index hidden;

  GruScene(Random& random, Index batch, Index steps, Index hidden_, bool is_reversed = false)
      : gates(random_rows(random, batch * steps, 3 * hidden_, 1)),
        matrices(random_numbers(random, 3 * hidden_ * hidden_)),
        bias(random_numbers(random, 3 * hidden_)),
        state(random_rows(random, batch, hidden_)),
        options{.batch = batch, .is_reversed = is_reversed},
        hidden(hidden_) {
    // As initialised layers have them, so that errors do not grow from step to step.
    for (float& number : matrices) number *= 0.5F / std::sqrt(static_cast<float>(hidden_));
  }

  [[nodiscard]] GruInputs inputs(const float* packed, bool is_full) const {
    return {gates.reading(), packed, is_full ? bias.data() : nullptr, is_full ? state.reading() : Rows<const float>{}};
  }
};

std::vector<float> run_gru(const GruScene& scene, bool is_full, Executor& executor = calling_thread()) {
  const Index n = scene.hidden;
  std::vector<WeightMatrix> gates;
  for (Index gate = 0; gate < 3; ++gate) {
    gates.push_back({scene.matrices.data() + gate * n * n, n, n, n, 1});
  }
  const Packed packed(gates);
  OwnedRows states(scene.gates.rows.count, n, kUntouched), last(scene.options.batch, n, kUntouched);
  compute(GruCall{scene.inputs(packed.data(), is_full), scene.options, states.rows, last.rows}, executor);
  const Index steps = scene.gates.rows.count / scene.options.batch;
  for (Index entry = 0; entry < scene.options.batch; ++entry) {
    const Index end = entry * steps + (scene.options.is_reversed ? 0 : steps - 1);
    for (Index i = 0; i < n; ++i) CHECK(last.at(entry, i) == states.at(end, i));
  }
  states.numbers.pop_back();
  return states.numbers;
}

}  // namespace

TEST_CASE("a gated recurrent unit follows its formulas, step after step, both ways") {
  Random random(516);
  for (const Index hidden : {1, 3, 7, 8, 9, 20, 33}) {
    for (const Index batch : {1, 2, 7, 25}) {
      const GruScene scene(random, batch, 1 + random.below(6), hidden, random.chance(0.5));
      for (const bool is_full : {true, false}) {
        const std::vector<float> got = run_gru(scene, is_full);
        const std::vector<double> expected =
            reference::gru(scene.inputs(nullptr, is_full), scene.options, scene.matrices.data());
        // Sums are of size sqrt(hidden) at most, gates have slopes of 1 at most, and a state's error is passed on by
        // a factor of about 1: six steps of such an error and of those of the functions.
        const double bound = 6.0 * (dot_bound(hidden, std::sqrt(static_cast<double>(hidden))) + 1e-6);
        double worst = 0.0;
        for (std::size_t at = 0; at < got.size(); ++at) {
          worst = std::max(worst, std::abs(double{got[at]} - expected[at]) / bound);
        }
        INFO("hidden " << hidden << ", batch " << batch);
        report_ratio("gru", worst);
        CHECK(worst <= 1.0);
      }
    }
  }
}

TEST_CASE("a gated recurrent unit gives the same bits for any number of workers, stops, and refuses") {
  Random random(517);
  const GruScene scene(random, 30, 4, 50);
  ReverseExecutor executor(3);
  CHECK(run_gru(scene, true, executor) == run_gru(scene, true));
  OwnedRows states(120, 50, kUntouched), last(30, 50, kUntouched);
  const auto code = [&](const GruInputs& inputs, const GruOptions& options, const StopFlag* stop = nullptr) {
    return run(GruCall{inputs, options, states.rows, last.rows}, calling_thread(), stop).code();
  };
  const StopFlag stop{1};
  const Packed packed(matrix_of(scene.matrices, 150, 50));
  const GruInputs good = scene.inputs(packed.data(), true);
  CHECK(code(good, {.batch = 30}, &stop) == StatusCode::aborted);
  CHECK(code(good, {.batch = 7}) == StatusCode::shape);
  CHECK(code(good, {.batch = 0}) == StatusCode::shape);
  GruInputs bad = good;
  bad.gates.length = 149;
  CHECK(code(bad, {.batch = 30}) == StatusCode::shape);
  bad = good;
  bad.weights = nullptr;
  CHECK(code(bad, {.batch = 30}) == StatusCode::shape);
  bad = good;
  bad.state.count = 29;
  CHECK(code(bad, {.batch = 30}) == StatusCode::shape);
}

}  // namespace heed::testing
