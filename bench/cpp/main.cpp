// Times attention on one thread at the shapes of docs/performance.md, alternating with the
// tile loop, and prints medians: milliseconds, GFLOP/s (4 B H L S D, half when causal), and
// % of peak, the rate of the tile loop. `heed_bench --json` prints one JSON object a line.
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "heed/attention.hpp"
#include "heed/machine.hpp"
#include "measure.hpp"
#include "tile_rate.hpp"

namespace {

using heed::Index;
using heed::bench::median;
using heed::bench::normal_numbers;
using heed::bench::seconds_of;

struct Case {
  Index heads, queries, keys, dim;
  bool is_causal;
};

constexpr Case kCases[] = {
    {1, 64, 64, 64, false},     {8, 128, 128, 64, false},   {12, 512, 512, 64, false},
    {8, 1024, 1024, 64, false}, {8, 1024, 1024, 64, true},  {8, 1024, 1024, 128, false},
    {8, 77, 1024, 64, false},   {1, 4096, 4096, 64, false}, {1, 8192, 8192, 64, true},
};

constexpr int kRounds = 9;
constexpr int kTileRepeats = 4000;

struct Figures {
  double milliseconds;
  double gflops;
  double tile_gflops;
};

Figures measure(const Case& c) {
  const std::vector<float> query = normal_numbers(c.heads * c.queries * c.dim, 1);
  const std::vector<float> key = normal_numbers(c.heads * c.keys * c.dim, 2);
  const std::vector<float> value = normal_numbers(c.heads * c.keys * c.dim, 3);
  std::vector<float> output(query.size());
  const heed::AttentionInputs inputs{.query = heed::bhnd_view(query.data(), {1, c.heads, c.queries, c.dim}),
                                     .key = heed::bhnd_view(key.data(), {1, c.heads, c.keys, c.dim}),
                                     .value = heed::bhnd_view(value.data(), {1, c.heads, c.keys, c.dim}),
                                     .mask = {},
                                     .bias = {}};
  heed::AttentionOptions options;
  options.causal = c.is_causal ? heed::Causal::lower_right : heed::Causal::none;
  const heed::AttentionOutputs outputs{
      .output = heed::bhnd_view(output.data(), {1, c.heads, c.queries, c.dim}), .weights = {}, .log_sum_exp = {}};
  const double flops = 4.0 * static_cast<double>(c.heads * c.queries * c.keys * c.dim) * (c.is_causal ? 0.5 : 1.0);

  // Small calls are timed in batches, and the first round warms up caches and compilers.
  const int batch = std::max(1, static_cast<int>(2e7 / flops));
  std::vector<double> calls;
  std::vector<double> tiles;
  for (int round = 0; round <= kRounds; ++round) {
    double operations = 0.0;
    const double tile = seconds_of([&] { operations = heed::bench::run_tiles(kTileRepeats); });
    const double call = seconds_of([&] {
      for (int i = 0; i < batch; ++i) {
        if (!heed::attention(inputs, options, outputs, heed::calling_thread()).is_ok()) std::abort();
      }
    });
    if (round == 0) continue;
    tiles.push_back(operations / tile * 1e-9);
    calls.push_back(call / batch);
  }
  const double seconds = median(calls);
  return {.milliseconds = seconds * 1e3, .gflops = flops / seconds * 1e-9, .tile_gflops = median(tiles)};
}

}  // namespace

int main(int count, char** arguments) {
  const bool as_json = count > 1 && std::string_view(arguments[1]) == "--json";
  if (!as_json)
    std::printf("kernels: %s, 1 thread\n%-28s %10s %9s %9s %6s\n", heed::kernel_name(), "shape", "ms", "GFLOP/s",
                "tile", "");
  for (const Case& c : heed::bench::asked<Case>(kCases, count, arguments)) {
    const Figures f = measure(c);
    char shape[64];
    std::snprintf(shape, sizeof shape, "(1, %d, %d:%d, %d)%s", static_cast<int>(c.heads), static_cast<int>(c.queries),
                  static_cast<int>(c.keys), static_cast<int>(c.dim), c.is_causal ? " causal" : "");
    if (as_json) {
      std::printf("{\"kernels\": \"%s\", \"shape\": \"%s\", \"ms\": %.4f, \"gflops\": %.2f, \"tile_gflops\": %.2f}\n",
                  heed::kernel_name(), shape, f.milliseconds, f.gflops, f.tile_gflops);
    } else {
      std::printf("%-28s %10.3f %9.1f %9.1f %5.0f%%\n", shape, f.milliseconds, f.gflops, f.tile_gflops,
                  100.0 * f.gflops / f.tile_gflops);
    }
  }
  return 0;
}
