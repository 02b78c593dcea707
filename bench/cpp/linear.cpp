// Times linear attention on one thread, alternating with the tile loop and with causal attention of the same shape, and
// prints medians: milliseconds, GFLOP/s of the recurrence (4 H L D E, and 2 G L D E more for the delta rules), % of
// peak (the rate of the tile loop), and how many times as fast as attention it is.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "heed/attention.hpp"
#include "heed/machine.hpp"
#include "measure.hpp"
#include "operations/linear_attention.hpp"
#include "tile_rate.hpp"

namespace {

using heed::Index;
using heed::LinearRule;
using heed::bench::median;
using heed::bench::normal_numbers;
using heed::bench::seconds_of;

struct Case {
  const char* name;
  LinearRule rule;
  Index heads, kv_heads, length, dim;
  bool has_wide_decay = true;
};

constexpr Case kCases[] = {
    {"linear", LinearRule::linear, 8, 8, 1024, 64},
    {"gated, one decay a head", LinearRule::gated, 8, 8, 1024, 64, false},
    {"gated", LinearRule::gated, 8, 8, 1024, 64},
    {"delta", LinearRule::delta, 8, 8, 1024, 64},
    {"gated delta", LinearRule::gated_delta, 8, 8, 1024, 64},
    {"elu", LinearRule::elu, 8, 8, 1024, 64},
    {"linear", LinearRule::linear, 8, 8, 1024, 128},
    {"gated delta", LinearRule::gated_delta, 8, 8, 1024, 128},
    {"gated delta", LinearRule::gated_delta, 32, 8, 1024, 64},
    {"gated delta", LinearRule::gated_delta, 1, 1, 4096, 64},
    {"gated delta", LinearRule::gated_delta, 8, 8, 1, 64},
};

constexpr int kRounds = 9;
constexpr int kTileRepeats = 4000;

bool is_gated(LinearRule rule) { return rule == LinearRule::gated || rule == LinearRule::gated_delta; }
bool is_delta(LinearRule rule) { return rule == LinearRule::delta || rule == LinearRule::gated_delta; }

void measure(const Case& c) {
  const heed::Shape queries{1, c.heads, c.length, c.dim}, keys{1, c.kv_heads, c.length, c.dim};
  const Index width = c.dim + (c.rule == LinearRule::elu ? 1 : 0);
  const heed::Shape state{1, c.kv_heads, c.dim, width};
  const heed::Shape decays{1, c.kv_heads, c.length, c.has_wide_decay ? c.dim : 1};
  const std::vector<float> query = normal_numbers(c.heads * c.length * c.dim, 1);
  std::vector<float> key = normal_numbers(c.kv_heads * c.length * c.dim, 2);
  for (float& number : key) number /= 8.0F;
  const std::vector<float> value = normal_numbers(c.kv_heads * c.length * c.dim, 3);
  const std::vector<float> decay(key.size(), -0.1F), beta(key.size(), 0.5F);
  std::vector<float> output(query.size()), new_state(static_cast<std::size_t>(c.kv_heads * c.dim * width));
  heed::LinearInputs inputs{.query = heed::bhnd_view(query.data(), queries),
                            .key = heed::bhnd_view<const float>(key.data(), keys),
                            .value = heed::bhnd_view(value.data(), keys)};
  if (is_gated(c.rule)) inputs.decay = heed::bhnd_view(decay.data(), decays);
  if (is_delta(c.rule)) inputs.beta = heed::bhnd_view(beta.data(), {1, c.kv_heads, c.length, 1});
  const heed::LinearOutputs outputs{.output = heed::bhnd_view(output.data(), queries),
                                    .state = heed::bhnd_view(new_state.data(), state)};
  const double flops = static_cast<double>(c.length * c.dim * c.dim) *
                       static_cast<double>(2 * c.heads + (is_delta(c.rule) ? 4 : 2) * c.kv_heads);
  const int batch = std::max(1, static_cast<int>(2e7 / flops));
  std::vector<double> calls, tiles, others;
  for (int round = 0; round <= kRounds; ++round) {
    double operations = 0.0;
    const double tile = seconds_of([&] { operations = heed::bench::run_tiles(kTileRepeats); });
    const double call = seconds_of([&] {
      for (int i = 0; i < batch; ++i) {
        if (!linear_attention(inputs, {.rule = c.rule}, outputs, heed::calling_thread()).is_ok()) std::abort();
      }
    });
    const double other = seconds_of([&] {
      if (!attention({.query = inputs.query, .key = inputs.key, .value = inputs.value},
                     {{}, {.causal = heed::Causal::lower_right}}, {.output = outputs.output}, heed::calling_thread())
               .is_ok()) {
        std::abort();
      }
    });
    if (round == 0) continue;
    tiles.push_back(operations / tile * 1e-9);
    calls.push_back(call / batch);
    others.push_back(other);
  }
  const double seconds = median(calls);
  const double rate = flops / seconds * 1e-9;
  std::printf("%-24s (1, %2d:%d, %4d, %3d) %10.3f %9.1f %5.0f%% %9.1f x\n", c.name, static_cast<int>(c.heads),
              static_cast<int>(c.kv_heads), static_cast<int>(c.length), static_cast<int>(c.dim), seconds * 1e3, rate,
              100.0 * rate / median(tiles), median(others) / seconds);
}

}  // namespace

int main(int count, char** arguments) {
  std::printf("kernels: %s, 1 thread\n%-48s %10s %9s %6s %11s\n", heed::kernel_name(), "rule, shape", "ms", "GFLOP/s",
              "tile", "attention");
  for (const Case& c : heed::bench::asked<Case>(kCases, count, arguments)) measure(c);
  return 0;
}
