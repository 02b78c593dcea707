// Times linear layers with stored weights on one thread, alternating with the same layer in f32 and with plain reading
// of as many bytes, and prints medians: milliseconds, giga products of a weight and a number a second, how many times
// as fast as f32, GB/s of packed weights and % of read bandwidth.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "heed/machine.hpp"
#include "kernels/instances/narrow.hpp"
#include "measure.hpp"
#include "operations/affine.hpp"
#include "operations/narrow/narrow_affine.hpp"
#include "operations/pack.hpp"
#include "read_rate.hpp"

namespace {

using heed::Index;
using heed::WeightFormat;
using heed::bench::median;
using heed::bench::normal_numbers;
using heed::bench::seconds_of;

struct Case {
  Index rows, inputs, outputs;
};

// In the first-level cache, in the second, and beyond both; then prompts.
constexpr Case kCases[] = {{1, 256, 64},    {1, 576, 576},   {1, 4096, 4096},  {2, 4096, 4096},
                           {4, 4096, 4096}, {8, 4096, 4096}, {16, 4096, 4096}, {4, 576, 1536},
                           {8, 384, 1536},  {128, 576, 576}, {128, 576, 1536}, {128, 1536, 576}};

constexpr struct {
  const char* name;
  WeightFormat format;
} kFormats[] = {{"f16", WeightFormat::f16},
                {"int8", WeightFormat::int8},
                {"int4", WeightFormat::int4},
                {"int4-min", WeightFormat::int4_min}};

constexpr int kRounds = 9;

struct Free {
  void operator()(float* numbers) const { ::operator delete(numbers, std::align_val_t{64}); }
};
using Numbers = std::unique_ptr<float, Free>;

Numbers allocate(Index floats) {
  return Numbers(
      static_cast<float*>(::operator new(static_cast<std::size_t>(floats) * sizeof(float), std::align_val_t{64})));
}

/// A matrix whose scales are ones, of all formats' bytes.
Numbers packed_in(WeightFormat format, const Case& c, Index floats) {
  Numbers packed = allocate(floats);
  const auto [numbers, bytes] = heed::kernels::block_of(format);
  std::vector<std::uint8_t> rows(static_cast<std::size_t>(16 * c.inputs / numbers * bytes));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t at = i % static_cast<std::size_t>(bytes);
    rows[i] = at == 1 ? 0x3C : at == 0 ? 0 : static_cast<std::uint8_t>(i * 2654435761U >> 24U);
  }
  auto* panel = reinterpret_cast<std::uint8_t*>(packed.get());
  for (Index output = 0; output < c.outputs; output += 16) {
    heed::kernels::pack_panel({format, rows.data(), static_cast<std::ptrdiff_t>(c.inputs), 16, panel});
    panel += heed::kernels::panel_bytes(format, static_cast<std::ptrdiff_t>(c.inputs));
  }
  return packed;
}

void measure(const Case& c) {
  const std::vector<float> input = normal_numbers(c.rows * c.inputs, 1);
  const std::vector<float> weights = normal_numbers(c.outputs * c.inputs, 2);
  const Numbers wide = allocate(heed::packed_floats(c.outputs, c.inputs));
  if (!heed::pack_weights({weights.data(), c.outputs, c.inputs, c.inputs, 1}, wide.get()).is_ok()) std::abort();
  std::vector<float> output(static_cast<std::size_t>(c.rows * c.outputs));
  const heed::Rows<const float> from{input.data(), c.rows, c.inputs, c.inputs};
  const heed::Rows<float> to{output.data(), c.rows, c.outputs, c.outputs};
  const double products = static_cast<double>(c.rows * c.inputs) * static_cast<double>(c.outputs);
  const int batch = std::max(1, static_cast<int>(3e7 / products));
  const auto seconds_each = [&](const auto& call) {
    return seconds_of([&] {
             for (int i = 0; i < batch; ++i) {
               if (!run(call, heed::calling_thread()).is_ok()) std::abort();
             }
           }) /
           batch;
  };
  for (const auto& [name, format] : kFormats) {
    const Index floats = c.outputs / 16 * heed::kernels::panel_bytes(format, static_cast<std::ptrdiff_t>(c.inputs)) / 4;
    const Numbers packed = packed_in(format, c, floats);
    std::vector<double> calls, wides, reads;
    for (int round = 0; round <= kRounds; ++round) {
      const double of_f32 = seconds_each(heed::AffineCall{from, wide.get(), {}, to});
      const double read =
          seconds_of([&] { heed::bench::read_numbers(static_cast<std::size_t>(floats), batch); }) / batch;
      const double call = seconds_each(heed::NarrowAffineCall{format, from, packed.get(), {}, to});
      if (round == 0) continue;
      wides.push_back(of_f32);
      reads.push_back(read);
      calls.push_back(call);
    }
    const double seconds = median(calls);
    std::printf("[%3d, %4d] to %5d %-8s %9.3f %9.1f %8.2f %9.1f %5.0f%%\n", static_cast<int>(c.rows),
                static_cast<int>(c.inputs), static_cast<int>(c.outputs), name, seconds * 1e3, products / seconds * 1e-9,
                median(wides) / seconds, static_cast<double>(floats) * 4e-9 / seconds, 100.0 * median(reads) / seconds);
  }
}

}  // namespace

int main(int count, char** arguments) {
  std::printf("kernels: %s, 1 thread\n%-29s %9s %9s %8s %9s %6s\n", heed::kernel_name(), "rows, columns", "ms",
              "Gproduct", "x f32", "GB/s", "read");
  for (const Case& c : heed::bench::asked<Case>(kCases, count, arguments)) measure(c);
  return 0;
}
