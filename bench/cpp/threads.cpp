// Times attention on several threads against one, alternating. The threshold below which a call
// stays on one thread is off, to show the speed-up by threads at every size. It prints medians of
// both, the median of the rounds' own ratios, and the ratio when the workers have fallen asleep
// before each call. `heed_bench_threads [threads] [gap in milliseconds]`.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "heed/attention.hpp"
#include "heed/machine.hpp"
#include "measure.hpp"
#include "schedule/thread_pool.hpp"

namespace {

using heed::Index;
using heed::ThreadPool;
using heed::bench::median;
using heed::bench::normal_numbers;
using heed::bench::seconds_of;

struct Case {
  Index heads, queries, keys, dim;
  bool is_causal;
};

constexpr Case kCases[] = {
    {1, 16, 16, 64, false},     {1, 32, 32, 64, false},    {1, 64, 64, 64, false},     {1, 128, 128, 64, false},
    {8, 64, 64, 64, false},     {1, 256, 256, 64, false},  {8, 128, 128, 64, false},   {8, 128, 128, 64, true},
    {8, 256, 256, 64, false},   {8, 256, 256, 64, true},   {8, 1024, 1024, 64, false}, {8, 1024, 1024, 64, true},
    {1, 8192, 8192, 64, false}, {1, 8192, 8192, 64, true},
};

constexpr int kRounds = 15;

class Attention {
 public:
  explicit Attention(const Case& c)
      : case_(c),
        query_(normal_numbers(c.heads * c.queries * c.dim, 1)),
        key_(normal_numbers(c.heads * c.keys * c.dim, 2)),
        value_(normal_numbers(c.heads * c.keys * c.dim, 3)),
        output_(query_.size()) {}

  void run(heed::Executor& executor) {
    const heed::Shape queries{1, case_.heads, case_.queries, case_.dim};
    const heed::Shape keys{1, case_.heads, case_.keys, case_.dim};
    heed::AttentionOptions options;
    options.causal = case_.is_causal ? heed::Causal::lower_right : heed::Causal::none;
    const heed::Status status =
        heed::attention({.query = heed::bhnd_view<const float>(query_.data(), queries),
                         .key = heed::bhnd_view<const float>(key_.data(), keys),
                         .value = heed::bhnd_view<const float>(value_.data(), keys)},
                        options, {.output = heed::bhnd_view(output_.data(), queries)}, executor);
    if (!status.is_ok()) std::abort();
  }

  [[nodiscard]] double multiplications() const {
    return 2.0 * static_cast<double>(case_.heads * case_.queries * case_.keys * case_.dim) *
           (case_.is_causal ? 0.5 : 1.0);
  }

 private:
  Case case_;
  std::vector<float> query_, key_, value_, output_;
};

struct Figures {
  double one, several, ratio;  // seconds, seconds, one to the other
};

Figures measure(Attention& attention, heed::Executor& several, int batch, std::chrono::milliseconds gap) {
  const auto time = [&](heed::Executor& executor) {
    if (gap.count() > 0) std::this_thread::sleep_for(gap);
    return seconds_of([&] {
             for (int call = 0; call < batch; ++call) attention.run(executor);
           }) /
           batch;
  };
  std::vector<double> ones, severals, ratios;
  for (int round = 0; round <= kRounds; ++round) {
    const double one = time(heed::calling_thread());
    const double more = time(several);
    if (round == 0) continue;  // warms up
    ones.push_back(one);
    severals.push_back(more);
    ratios.push_back(one / more);
  }
  return {median(ones), median(severals), median(ratios)};
}

/// Returns the seconds that a set of empty tasks takes.
double dispatch_cost(ThreadPool& pool) {
  constexpr int kSets = 20'000;
  const heed::TaskSet nothing{[](void*, Index, int) {}, nullptr, 2};
  std::vector<double> samples;
  for (int round = 0; round < kRounds; ++round) {
    samples.push_back(seconds_of([&] {
                        for (int set = 0; set < kSets; ++set) pool.run(nothing);
                      }) /
                      kSets);
  }
  return median(samples);
}

}  // namespace

int main(int count, char** arguments) {
  const int threads = count > 1 ? std::atoi(arguments[1]) : 2;
  const std::chrono::milliseconds gap(count > 2 ? std::atoi(arguments[2]) : 25);
  ThreadPool pool(threads, 0.0);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // lines as they come
  std::printf("kernels: %s, %d threads against 1; an empty set costs %.2f us\n", heed::kernel_name(),
              pool.worker_count(), dispatch_cost(pool) * 1e6);
  std::printf("%-26s %10s %10s %10s %7s %16s\n", "shape", "M mults", "1, ms", "all, ms", "ratio", "ratio from sleep");
  for (const Case& c : heed::bench::asked<Case>(kCases, count, arguments)) {
    Attention attention(c);
    const int batch = std::max(1, static_cast<int>(2e7 / attention.multiplications()));
    const Figures awake = measure(attention, pool, batch, std::chrono::milliseconds(0));
    const Figures asleep = measure(attention, pool, 1, gap);
    char shape[64];
    std::snprintf(shape, sizeof shape, "(1, %d, %d, %d)%s", static_cast<int>(c.heads), static_cast<int>(c.queries),
                  static_cast<int>(c.dim), c.is_causal ? " causal" : "");
    std::printf("%-26s %10.3f %10.4f %10.4f %7.2f %16.2f\n", shape, attention.multiplications() * 1e-6, awake.one * 1e3,
                awake.several * 1e3, awake.ratio, asleep.ratio);
  }
  return 0;
}
