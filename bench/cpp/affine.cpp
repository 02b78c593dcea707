// Times the linear layer on one thread, alternating with the tile loop and with plain reading, and prints medians:
// milliseconds, GFLOP/s and % of peak (the rate of the tile loop), which limits a GEMM; GB/s of weights and % of read
// bandwidth, which limits a GEMV (a single row).
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "heed/machine.hpp"
#include "measure.hpp"
#include "operations/affine.hpp"
#include "operations/pack.hpp"
#include "read_rate.hpp"
#include "tile_rate.hpp"

namespace {

using heed::Index;
using heed::bench::median;
using heed::bench::normal_numbers;
using heed::bench::seconds_of;

struct Case {
  Index rows, inputs, outputs;
  heed::Activation activation = heed::Activation::none;
};

constexpr Case kCases[] = {
    {512, 768, 768},  {512, 768, 3072},   {512, 768, 3072, heed::Activation::gelu},
    {512, 3072, 768}, {1024, 1024, 1024}, {128, 512, 512},
    {64, 64, 64},     {16, 768, 768},     {4, 384, 1536},
    {4, 4096, 4096},  {8, 4096, 4096},    {1, 768, 768},
    {1, 768, 3072},   {1, 4096, 4096},
};

constexpr int kRounds = 9;
constexpr int kTileRepeats = 4000;

struct Free {
  void operator()(float* numbers) const { ::operator delete(numbers, std::align_val_t{64}); }
};

void measure(const Case& c) {
  const std::vector<float> input = normal_numbers(c.rows * c.inputs, 1);
  const std::vector<float> weights = normal_numbers(c.outputs * c.inputs, 2);
  const std::vector<float> bias = normal_numbers(c.outputs, 3);
  const auto floats = static_cast<std::size_t>(heed::packed_floats(c.outputs, c.inputs));
  const std::unique_ptr<float, Free> packed(
      static_cast<float*>(::operator new(floats * sizeof(float), std::align_val_t{64})));
  if (!heed::pack_weights({weights.data(), c.outputs, c.inputs, c.inputs, 1}, packed.get()).is_ok()) std::abort();
  std::vector<float> output(static_cast<std::size_t>(c.rows * c.outputs));
  const double flops = 2.0 * static_cast<double>(c.rows * c.inputs) * static_cast<double>(c.outputs);
  const int batch = std::max(1, static_cast<int>(5e7 / flops));
  std::vector<double> calls, tiles, reads;
  for (int round = 0; round <= kRounds; ++round) {
    double operations = 0.0;
    const double tile = seconds_of([&] { operations = heed::bench::run_tiles(kTileRepeats); });
    const std::size_t readable = std::min(floats, heed::bench::kMostNumbers);
    const double read = seconds_of([&] { heed::bench::read_numbers(readable, batch); });
    const double call = seconds_of([&] {
      for (int i = 0; i < batch; ++i) {
        if (!run(heed::AffineCall{{input.data(), c.rows, c.inputs, c.inputs},
                                  packed.get(),
                                  {.activation = c.activation, .bias = bias.data()},
                                  {output.data(), c.rows, c.outputs, c.outputs}},
                 heed::calling_thread())
                 .is_ok()) {
          std::abort();
        }
      }
    });
    if (round == 0) continue;
    tiles.push_back(operations / tile * 1e-9);
    reads.push_back(read / batch * static_cast<double>(floats) / static_cast<double>(readable));
    calls.push_back(call / batch);
  }
  const double seconds = median(calls);
  const double rate = flops / seconds * 1e-9;
  std::printf(
      "[%4d, %4d] to %4d%s %10.3f %9.1f %5.0f%% %9.1f %5.0f%%\n", static_cast<int>(c.rows), static_cast<int>(c.inputs),
      static_cast<int>(c.outputs), c.activation == heed::Activation::none ? "     " : " gelu", seconds * 1e3, rate,
      100.0 * rate / median(tiles), static_cast<double>(floats) * 4e-9 / seconds, 100.0 * median(reads) / seconds);
}

}  // namespace

int main(int count, char** arguments) {
  std::printf("kernels: %s, 1 thread\n%-26s %10s %9s %6s %9s %6s\n", heed::kernel_name(), "rows, columns", "ms",
              "GFLOP/s", "tile", "GB/s", "read");
  for (const Case& c : heed::bench::asked<Case>(kCases, count, arguments)) measure(c);
  return 0;
}
