// Times decode from a paged KV cache of each type on one thread, alternating with a plain read of the same bytes, and
// from K and V that are dense tensors. It prints the fastest of some rounds. Decode is memory-bound: GB/s count the
// bytes of K, V and scales.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench_arch.hpp"
#include "heed/attention.hpp"
#include "heed/machine.hpp"
#include "measure.hpp"

namespace {

using heed::DType;
using heed::Index;
using heed::bench::seconds_of;

constexpr int kRounds = 41;
constexpr double kWarmSeconds = 0.4;

struct Case {
  Index kv_heads, queries_per_head, keys, dim;
};

constexpr Case kCases[] = {{8, 1, 4096, 64}, {32, 1, 8192, 64}, {32, 1, 4096, 128}, {8, 4, 16384, 128}};

/// The page size in tokens of the package's caches with a maxLength of `keys`.
Index page_size(Index keys, DType dtype) {
  const Index least = 384 / heed::bytes_of(dtype);
  const Index pages = heed::is_int8(dtype) ? 4 : 8;
  return least * std::clamp<Index>(keys / (pages * least), 1, 4);
}

/// A paged KV cache. A page holds K, V and the scales of both for each head. Its contents are arbitrary small numbers.
class Cache {
 public:
  Cache(const Case& c, DType dtype, bool is_paged)
      : rows_(page_size(c.keys, dtype)), count_((c.keys + rows_ - 1) / rows_) {
    const Index size = heed::bytes_of(dtype);
    const Index values = rows_ * c.dim * size;
    const Index key_scales = 2 * values;
    // For f16 there is a word in place of the scales, which says that all rows are finite.
    const Index scale_bytes = heed::is_int8(dtype) ? rows_ * 4 : (dtype == DType::f16 ? 64 : 0);
    const Index head_bytes = key_scales + 2 * scale_bytes;
    page_bytes_ = c.kv_heads * head_bytes;
    memory_ = static_cast<char*>(std::aligned_alloc(64, static_cast<std::size_t>(count_ * page_bytes_)));
    if (memory_ == nullptr) std::abort();
    for (Index p = 0; p < count_; ++p) table_.push_back(memory_ + p * page_bytes_);
    for (Index h = 0; h < count_ * c.kv_heads; ++h) fill(memory_ + h * head_bytes, dtype, c.dim, key_scales);
    const auto view = [&](Index offset, Index scales) {
      heed::FloatView made;
      made.shape = {1, c.kv_heads, c.keys, c.dim};
      made.strides = {0, head_bytes / size, c.dim, 1};
      made.dtype = dtype;
      made.pages = {.table = table_.data(), .per_batch = count_, .rows = rows_, .first = 0};
      made.offset = offset;
      made.scales = scales;
      return made;
    };
    key = view(0, key_scales);
    value = view(values, key_scales + scale_bytes - values);
    if (dtype == DType::i8_keys) value.dtype = DType::i8_values;
    if (is_paged) return;
    const auto* const numbers = reinterpret_cast<const float*>(memory_);
    key = heed::bhnd_view(numbers, key.shape);
    value = heed::bhnd_view(numbers + c.kv_heads * c.keys * c.dim, value.shape);
  }
  ~Cache() { std::free(memory_); }
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  [[nodiscard]] double bytes() const { return static_cast<double>(count_ * page_bytes_); }

  /// Reads the whole cache, and returns the sum of its numbers.
  [[nodiscard]] float read() const {
    using Batch = heed::kernels::Batch;
    constexpr Index lanes = heed::kernels::kLanes;
    Batch sums[8];
    for (Batch& sum : sums) sum = Batch(0.0F);
    const auto* const numbers = reinterpret_cast<const float*>(memory_);
    const Index count = count_ * page_bytes_ / 4;
    for (Index i = 0; i + 8 * lanes <= count; i += 8 * lanes) {
      for (Index s = 0; s < 8; ++s) sums[s] += Batch::load_unaligned(numbers + i + s * lanes);
    }
    for (Index s = 1; s < 8; ++s) sums[0] += sums[s];
    return xsimd::reduce_add(sums[0]);
  }

  heed::FloatView key, value;

 private:
  void fill(char* head, DType dtype, Index dim, Index scales) {
    const Index numbers = 2 * rows_ * dim;
    for (Index i = 0; i < numbers; ++i) {
      random_ = random_ * 1664525U + 1013904223U;
      const int whole = static_cast<int>(random_ >> 25U) - 64;
      if (dtype == DType::f32) reinterpret_cast<float*>(head)[i] = static_cast<float>(whole) / 64.0F;
      // f16 numbers of about 0.5 to 2, of either sign.
      if (dtype == DType::f16) {
        reinterpret_cast<std::uint16_t*>(head)[i] =
            static_cast<std::uint16_t>(0x3800U + (random_ >> 21U) + (random_ & 0x8000U));
      }
      if (heed::is_int8(dtype)) reinterpret_cast<std::int8_t*>(head)[i] = static_cast<std::int8_t>(whole);
    }
    if (dtype == DType::f16) std::memset(head + scales, 0, 128);
    if (!heed::is_int8(dtype)) return;
    for (Index i = 0; i < 2 * rows_; ++i) reinterpret_cast<float*>(head + scales)[i] = 1.0F / 64.0F;
  }

  Index rows_;
  Index count_;
  Index page_bytes_ = 0;
  char* memory_ = nullptr;
  std::vector<const void*> table_;
  std::uint32_t random_ = 1;
};

/// The fastest sample counts: other processes use the same memory, and only slow it down.
double quickest(const std::vector<double>& samples) { return *std::ranges::min_element(samples); }

struct Figures {
  double milliseconds;
  double reading;  // milliseconds
  double bytes;
};

Figures measure(const Case& c, DType dtype, bool is_paged) {
  const Cache cache(c, dtype, is_paged);
  const Index heads = c.kv_heads * c.queries_per_head;
  const std::vector<float> query = heed::bench::normal_numbers(heads * c.dim, 1);
  std::vector<float> output(query.size());
  const heed::AttentionInputs inputs{.query = heed::bhnd_view(query.data(), {1, heads, 1, c.dim}),
                                     .key = cache.key,
                                     .value = cache.value,
                                     .mask = {},
                                     .bias = {}};
  const heed::AttentionOutputs outputs{.output = heed::bhnd_view(output.data(), {1, heads, 1, c.dim})};
  std::vector<double> calls;
  std::vector<double> reads;
  float sum = 0.0F;
  double warm = 0.0;
  // Inlined here it would stay baseline code, as any function that is called once.
  float (Cache::* volatile read_all)() const = &Cache::read;
  for (int round = 0; round < kRounds;) {
    const double read = seconds_of([&] { sum += (cache.*read_all)(); });
    const double call = seconds_of([&] {
      if (!heed::attention(inputs, {}, outputs, heed::calling_thread()).is_ok()) std::abort();
    });
    // Warm calls last until engines have optimized the code.
    warm += call;
    if (warm < kWarmSeconds) continue;
    ++round;
    reads.push_back(read * 1e3);
    calls.push_back(call * 1e3);
  }
  if (sum == 12345.0F) std::puts("");  // so that the compiler keeps the reads
  return {.milliseconds = quickest(calls), .reading = quickest(reads), .bytes = cache.bytes()};
}

}  // namespace

int main(int count, char** arguments) {
  std::printf("kernels: %s, 1 thread\n%-24s %5s %9s %9s %9s %7s\n", heed::kernel_name(), "(G x H/G, S, D)", "", "ms",
              "GB/s", "of read", "x f32");
  for (const Case& c : heed::bench::asked<Case>(kCases, count, arguments)) {
    double f32_milliseconds = 0.0;
    struct Layout {
      const char* name;
      DType dtype;
      bool is_paged;
    };
    constexpr Layout kLayouts[] = {{"plain", DType::f32, false},
                                   {"f32", DType::f32, true},
                                   {"f16", DType::f16, true},
                                   {"i8", DType::i8_keys, true}};
    for (const Layout& layout : kLayouts) {
      const Figures f = measure(c, layout.dtype, layout.is_paged);
      if (layout.dtype == DType::f32) f32_milliseconds = f.milliseconds;
      char shape[64];
      std::snprintf(shape, sizeof shape, "(%d x %d, %d, %d)", static_cast<int>(c.kv_heads),
                    static_cast<int>(c.queries_per_head), static_cast<int>(c.keys), static_cast<int>(c.dim));
      std::printf("%-24s %5s %9.3f %9.1f %8.0f%% %7.2f\n", shape, layout.name, f.milliseconds,
                  f.bytes / f.milliseconds * 1e-6, 100.0 * f.reading / f.milliseconds,
                  f32_milliseconds / f.milliseconds);
    }
  }
  return 0;
}
