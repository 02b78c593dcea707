// Times linear layers with stored weights on one thread, alternating with the same layer in f32, with one row of it,
// with plain reading of as many bytes and with the kernel alone on weights in the first-level cache. Prints medians:
// milliseconds, giga products of a weight and a number a second, how many times as fast as f32, how many times one row,
// GB/s of packed weights, those of plain reading, giga products of the kernel, and % of what these two allow.
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

// A token of a large layer, and those of a Llama of 135 million parameters; a few rows; prompts.
constexpr Case kCases[] = {{1, 4096, 4096}, {1, 576, 576},   {1, 576, 1536},   {1, 1536, 576},
                           {1, 576, 49152}, {2, 4096, 4096}, {8, 4096, 4096},  {16, 4096, 4096},
                           {8, 576, 1536},  {128, 576, 576}, {128, 576, 1536}, {128, 1536, 576}};

constexpr struct {
  const char* name;
  WeightFormat format;
} kFormats[] = {{"f16", WeightFormat::f16},
                {"int8", WeightFormat::int8},
                {"int4", WeightFormat::int4},
                {"int4-min", WeightFormat::int4_min},
                {"q4-k", WeightFormat::q4_k}};

bool has_format(const Case& c, WeightFormat format) { return c.inputs % heed::kernels::block_of(format).numbers == 0; }

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

/// Products a second of the kernel with so many rows, on panels that fit into the first-level cache.
class KernelRate {
 public:
  KernelRate(WeightFormat format, Index rows)
      : format_(format),
        rows_(std::min<Index>(rows, heed::kernels::kMostNarrowRows)),
        outputs_(kBytes / heed::kernels::panel_bytes(format, kInputs) * heed::kernels::kNarrowPanel),
        input_(normal_numbers(rows_ * kInputs, 3)),
        row_bytes_(heed::kernels::quantized_bytes(format, kInputs)),
        quantized_(allocate(rows_ * row_bytes_ / 4 + 16)),
        weights_(packed_in(format, {rows_, kInputs, outputs_}, kBytes / 4)),
        sums_(static_cast<std::size_t>(rows_ * outputs_)),
        scratch_(allocate(heed::kernels::narrow_scratch_floats(format) + 16)) {
    for (Index row = 0; row_bytes_ > 0 && row < rows_; ++row) {
      heed::kernels::quantize_row(format, input_.data() + row * kInputs, kInputs, quantized() + row * row_bytes_);
    }
  }

  double measure() {
    const double products = static_cast<double>(rows_ * outputs_ * kInputs);
    const int repeats = std::max(1, static_cast<int>(1e7 / products));
    const double seconds = seconds_of([&] {
      for (int i = 0; i < repeats; ++i) {
        heed::kernels::narrow_gemm({.format = format_,
                                    .rows = input_.data(),
                                    .row_stride = kInputs,
                                    .quantized = quantized(),
                                    .row_count = static_cast<int>(rows_),
                                    .panels = reinterpret_cast<const std::uint8_t*>(weights_.get()),
                                    .inputs = kInputs,
                                    .columns = static_cast<int>(outputs_),
                                    .sums = sums_.data(),
                                    .sum_stride = static_cast<std::ptrdiff_t>(outputs_),
                                    .scratch = scratch_.get()});
      }
    });
    return products * repeats / seconds;
  }

 private:
  static constexpr int kInputs = 256;
  static constexpr Index kBytes = 24 << 10;

  std::uint8_t* quantized() { return reinterpret_cast<std::uint8_t*>(quantized_.get()); }

  WeightFormat format_;
  Index rows_, outputs_;
  std::vector<float> input_;
  Index row_bytes_;
  Numbers quantized_, weights_;
  std::vector<float> sums_;
  Numbers scratch_;
};

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
    if (!has_format(c, format)) continue;
    const Index floats = c.outputs / 16 * heed::kernels::panel_bytes(format, static_cast<std::ptrdiff_t>(c.inputs)) / 4;
    const Numbers packed = packed_in(format, c, floats);
    KernelRate kernel(format, c.rows);
    const auto narrow_call = [&](Index rows) {
      return heed::NarrowAffineCall{format,
                                    {input.data(), rows, c.inputs, c.inputs},
                                    packed.get(),
                                    {},
                                    {output.data(), rows, c.outputs, c.outputs}};
    };
    std::vector<double> calls, wides, ones, reads, kernels;
    for (int round = 0; round <= kRounds; ++round) {
      const double of_f32 = seconds_each(heed::AffineCall{from, wide.get(), {}, to});
      const double read =
          seconds_of([&] { heed::bench::read_numbers(static_cast<std::size_t>(floats), batch); }) / batch;
      const double one = seconds_each(narrow_call(1));
      const double rate = kernel.measure();
      const double call = seconds_each(narrow_call(c.rows));
      if (round == 0) continue;
      wides.push_back(of_f32);
      reads.push_back(read);
      ones.push_back(one);
      kernels.push_back(rate);
      calls.push_back(call);
    }
    const double seconds = median(calls), rate = median(kernels);
    const double bytes = static_cast<double>(floats) * 4.0;
    const double least = std::max(median(reads), products / rate);
    std::printf("[%3d, %4d] to %5d %-8s %9.3f %9.1f %8.2f %8.2f %7.1f %7.1f %7.1f %6.0f%%\n", static_cast<int>(c.rows),
                static_cast<int>(c.inputs), static_cast<int>(c.outputs), name, seconds * 1e3, products / seconds * 1e-9,
                median(wides) / seconds, seconds / median(ones), bytes * 1e-9 / seconds, bytes * 1e-9 / median(reads),
                rate * 1e-9, 100.0 * least / seconds);
  }
}

}  // namespace

int main(int count, char** arguments) {
  std::printf("kernels: %s, 1 thread\n%-29s %9s %9s %8s %8s %7s %7s %7s %7s\n", heed::kernel_name(), "rows, columns",
              "ms", "Gproduct", "x f32", "x 1 row", "GB/s", "read", "kernel", "of both");
  for (const Case& c : heed::bench::asked<Case>(kCases, count, arguments)) measure(c);
  return 0;
}
