// Times the backward pass of attention against the forward pass, alternating, on one thread; and, in native builds, on
// two threads against one. It prints medians, and the medians of the rounds' own ratios. `heed_bench_backward --json`
// prints one JSON object a line.
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "heed/attention_vjp.hpp"
#include "heed/machine.hpp"
#include "measure.hpp"
#ifndef __EMSCRIPTEN__
#include "schedule/thread_pool.hpp"
#endif

namespace {

using heed::Index;
using heed::bench::median;
using heed::bench::normal_numbers;
using heed::bench::seconds_of;

struct Case {
  Index heads, length, dim;
  bool is_causal;
};

constexpr Case kCases[] = {
    {8, 128, 64, false},  {8, 1024, 64, false}, {8, 1024, 64, true},  {8, 1024, 128, false},
    {4, 4096, 64, false}, {4, 4096, 64, true},  {1, 4096, 64, false}, {1, 4096, 64, true},
};

constexpr int kRounds = 7;

class Attention {
 public:
  explicit Attention(const Case& c)
      : shape_{1, c.heads, c.length, c.dim},
        query_(normal_numbers(size(), 1)),
        key_(normal_numbers(size(), 2)),
        value_(normal_numbers(size(), 3)),
        of_output_(normal_numbers(size(), 4)),
        output_(query_.size()),
        log_sum_exp_(static_cast<std::size_t>(c.heads * c.length)),
        of_query_(query_.size()),
        of_key_(query_.size()),
        of_value_(query_.size()) {
    options_.causal = c.is_causal ? heed::Causal::lower_right : heed::Causal::none;
  }

  void forward(heed::Executor& executor) {
    check(heed::attention(inputs(), options_, {.output = view(output_), .log_sum_exp = of_rows(log_sum_exp_.data())},
                          executor));
  }

  void backward(heed::Executor& executor) {
    check(heed::attention_vjp({.forward = inputs(),
                               .output = reading(output_),
                               .log_sum_exp = of_rows<const float>(log_sum_exp_.data()),
                               .output_gradient = reading(of_output_)},
                              options_, {.query = view(of_query_), .key = view(of_key_), .value = view(of_value_)},
                              executor));
  }

  /// Of the five products of the backward pass.
  [[nodiscard]] double flops() const {
    const auto [batch, heads, length, dim] = shape_;
    const double pairs = static_cast<double>(heads * length * length);
    return 10.0 * pairs * static_cast<double>(dim) * (options_.causal == heed::Causal::none ? 1.0 : 0.5);
  }

 private:
  [[nodiscard]] Index size() const { return shape_[1] * shape_[2] * shape_[3]; }
  [[nodiscard]] heed::TensorView<float> view(std::vector<float>& numbers) const {
    return heed::bhnd_view(numbers.data(), shape_);
  }
  [[nodiscard]] heed::TensorView<const float> reading(const std::vector<float>& numbers) const {
    return heed::bhnd_view(numbers.data(), shape_);
  }
  template <typename T>
  [[nodiscard]] heed::TensorView<T> of_rows(T* numbers) const {
    return heed::bhnd_view(numbers, {shape_[0], shape_[1], shape_[2], 1});
  }
  [[nodiscard]] heed::AttentionInputs inputs() const {
    return {.query = reading(query_), .key = reading(key_), .value = reading(value_), .mask = {}, .bias = {}};
  }
  static void check(const heed::Status& status) {
    if (!status.is_ok()) std::abort();
  }

  heed::Shape shape_;
  heed::AttentionOptions options_;
  std::vector<float> query_, key_, value_, of_output_, output_, log_sum_exp_, of_query_, of_key_, of_value_;
};

/// Seconds, and a ratio.
struct Figures {
  double first, second, ratio;
};

/// Alternates two pieces of work, after a round that warms up.
Figures alternate(int batch, auto one, auto other) {
  std::vector<double> firsts, seconds, ratios;
  for (int round = 0; round <= kRounds; ++round) {
    const auto time = [batch](auto work) {
      return seconds_of([&] {
               for (int call = 0; call < batch; ++call) work();
             }) /
             batch;
    };
    const double first = time(one);
    const double second = time(other);
    if (round == 0) continue;
    firsts.push_back(first);
    seconds.push_back(second);
    ratios.push_back(second / first);
  }
  return {median(firsts), median(seconds), median(ratios)};
}

}  // namespace

int main(int count, char** arguments) {
  const bool as_json = count > 1 && std::string_view(arguments[1]) == "--json";
  if (!as_json) {
    std::printf("kernels: %s\n%-26s %11s %12s %7s %9s %14s\n", heed::kernel_name(), "shape", "forward, ms",
                "backward, ms", "ratio", "GFLOP/s", "2 threads to 1");
  }
  for (const Case& c : heed::bench::asked<Case>(kCases, count, arguments)) {
    Attention attention(c);
    const int batch = std::max(1, static_cast<int>(1e8 / attention.flops()));
    heed::Executor& here = heed::calling_thread();
    const Figures f = alternate(batch, [&] { attention.forward(here); }, [&] { attention.backward(here); });
    double speedup = 1.0;
#ifndef __EMSCRIPTEN__
    heed::ThreadPool pool(2, 0.0);
    const Figures t = alternate(batch, [&] { attention.backward(here); }, [&] { attention.backward(pool); });
    speedup = 1.0 / t.ratio;
#endif
    char shape[64];
    std::snprintf(shape, sizeof shape, "(1, %d, %d, %d)%s", static_cast<int>(c.heads), static_cast<int>(c.length),
                  static_cast<int>(c.dim), c.is_causal ? " causal" : "");
    const char* const format =
        as_json ? "{\"shape\": \"%s\", \"forward_ms\": %.4f, \"backward_ms\": %.4f, \"ratio\": %.3f, \"gflops\": %.2f, "
                  "\"two_threads\": %.3f}\n"
                : "%-26s %11.3f %12.3f %7.2f %9.1f %14.2f\n";
    std::printf(format, shape, f.first * 1e3, f.second * 1e3, f.ratio, attention.flops() / f.second * 1e-9, speedup);
  }
  return 0;
}
