// Climbs the ladder: every rung checked against the reference, then all timed in turn. Prints a JSON object a rung;
// fails when a result is further from the reference than its arithmetic explains.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "error_model.hpp"
#include "heed/machine.hpp"
#include "reference/attention.hpp"
#include "reference/numbers.hpp"
#include "rungs.hpp"
#ifdef HEED_LADDER_THREADS
#include "schedule/thread_pool.hpp"
#endif

namespace {

using heed::Index;

constexpr int kHeads = 4;
constexpr int kLength = 512;
constexpr int kDim = 64;
constexpr int kRounds = 7;
constexpr heed::Shape kShape = {1, kHeads, kLength, kDim};

struct Rung {
  std::string name;
  std::function<void()> solve;
  double error = 0.0;     // largest difference from the reference
  double of_bound = 0.0;  // largest share of what the error model allows
  std::vector<double> milliseconds;
};

std::vector<float> normal_numbers(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(static_cast<std::size_t>(kHeads * kLength * kDim));
  for (float& number : numbers) number = normal(random);
  return numbers;
}

/// Compares an output with the reference, number by number.
class Judge {
 public:
  explicit Judge(const heed::AttentionInputs& inputs)
      : exact_(heed::reference::attention(inputs, heed::AttentionOptions{})) {
    constexpr auto kMasked = static_cast<std::size_t>(heed::ScoreStage::masked);
    for (Index head = 0; head < kHeads; ++head) {
      const auto keys = heed::reference::read_rows(inputs.key, 0, head);
      const auto values = heed::reference::read_rows(inputs.value, 0, head);
      for (Index i = 0; i < kLength; ++i) {
        const auto row = static_cast<std::size_t>(head * kLength + i);
        const heed::testing::ExactRow exact{.weights = {exact_.weights.data() + row * kLength, kLength},
                                            .scores = {exact_.scores[kMasked].data() + row * kLength, kLength},
                                            .log_sum_exp = exact_.log_sum_exp[row],
                                            .entropy = exact_.entropy[row],
                                            .keys = keys,
                                            .values = values};
        const heed::testing::RowPosition position{.b = 0, .h = head, .i = i};
        bounds_.push_back(heed::testing::bound_row(inputs, {.scale = 1.0 / std::sqrt(kDim)}, position, exact).output);
      }
    }
  }

  void judge(Rung& rung, const std::vector<float>& output) const {
    for (std::size_t index = 0; index < output.size(); ++index) {
      const double error = std::abs(static_cast<double>(output[index]) - exact_.output[index]);
      const double bound = bounds_[index / kDim][index % kDim];
      rung.error = std::max(rung.error, error);
      // A NaN is the largest error.
      rung.of_bound = error <= bound ? std::max(rung.of_bound, error / bound) : HUGE_VAL;
      if (rung.of_bound == HUGE_VAL) return;
    }
  }

 private:
  heed::reference::AttentionResult exact_;
  std::vector<std::vector<double>> bounds_;  // of each row's outputs
};

double milliseconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> samples) {
  std::ranges::sort(samples);
  return samples[samples.size() / 2];
}

}  // namespace

/// With `--smoke` each rung is timed once, to show that the ladder works and is right.
int main(int count, char** arguments) {
  const bool is_smoke = count > 1 && std::string_view(arguments[1]) == "--smoke";
  const int rounds = is_smoke ? 1 : kRounds;
  const std::vector<float> query = normal_numbers(1);
  const std::vector<float> key = normal_numbers(2);
  const std::vector<float> value = normal_numbers(3);
  std::vector<float> output(query.size());
  const heed::ladder::Problem problem{kHeads, kLength, kDim, query.data(), key.data(), value.data(), output.data()};
  const heed::AttentionInputs inputs{.query = heed::bhnd_view(query.data(), kShape),
                                     .key = heed::bhnd_view(key.data(), kShape),
                                     .value = heed::bhnd_view(value.data(), kShape)};
  const heed::AttentionOutputs outputs{.output = heed::bhnd_view(output.data(), kShape)};
  const auto by_kernels = [&](heed::Executor& executor) {
    if (!heed::attention(inputs, {}, outputs, executor).is_ok()) std::abort();
  };

  std::vector<Rung> rungs;
  rungs.push_back({.name = "naive", .solve = [&] { heed::ladder::naive(problem); }});
  rungs.push_back({.name = "tiled", .solve = [&] { heed::ladder::tiled(problem); }});
  rungs.push_back({.name = "online", .solve = [&] { heed::ladder::online(problem); }});
  rungs.push_back({.name = heed::kernel_name(), .solve = [&] { by_kernels(heed::calling_thread()); }});
#ifdef HEED_LADDER_THREADS
  heed::ThreadPool pool(2);
  rungs.push_back({.name = "2 threads", .solve = [&] { by_kernels(pool); }});
#endif

  const Judge judge(inputs);
  for (Rung& rung : rungs) {
    std::ranges::fill(output, NAN);
    rung.solve();
    judge.judge(rung, output);
  }
  for (int round = 0; round < rounds; ++round) {
    for (Rung& rung : rungs) rung.milliseconds.push_back(milliseconds_of(rung.solve));
  }

  constexpr double kOperations = 4.0 * kHeads * kLength * kLength * kDim;
  bool is_right = true;
  for (const Rung& rung : rungs) {
    const double ms = median(rung.milliseconds);
    std::printf("{\"rung\": \"%s\", \"ms\": %.4f, \"gflops\": %.3f, \"error\": %.3e, \"of_bound\": %.3f}\n",
                rung.name.c_str(), ms, kOperations / ms * 1e-6, rung.error, std::min(rung.of_bound, 1e9));
    is_right = is_right && rung.of_bound <= 1.0;
  }
  return is_right ? 0 : 1;
}
