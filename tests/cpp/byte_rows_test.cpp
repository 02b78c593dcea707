// Bytes against whole numbers: every line and every number counts once, wherever vectors and units end.
#include "kernels/byte_rows.hpp"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support.hpp"
#include "tested_archs.hpp"

namespace heed::testing {
namespace {

/// What may be read behind the last line.
constexpr int kBehind = 16;

/// -1, 0 and 1 are exact in whole numbers of any unit, which is that of the largest.
std::vector<float> draw_signs(Random& random, int count) {
  std::vector<float> signs(static_cast<std::size_t>(count));
  for (float& sign : signs) sign = static_cast<float>(random.below(3) - 1);
  return signs;
}

/// Room for a query or an output, as kernels have it: zeros up to a whole vector, and anything behind.
struct Room {
  explicit Room(int dim) {
    std::ranges::fill(numbers, std::numeric_limits<float>::quiet_NaN());
    std::fill_n(numbers, (dim + 3) / 4 * 4, 0.0F);
  }
  alignas(64) float numbers[304];
};

struct Bytes {
  Bytes(Random& random, int lines, int width)
      : dim(width),
        numbers(static_cast<std::size_t>(lines * width + kBehind)),
        scales(static_cast<std::size_t>(lines + kBehind)) {
    for (std::int8_t& byte : numbers) byte = static_cast<std::int8_t>(random.below(255) - 127);
    for (float& scale : scales) scale = random.chance(0.5) ? 1.0F : 0.5F;
  }
  /// All lines, in runs of `length`.
  [[nodiscard]] kernels::Runs in_runs(int length) const {
    const int lines = static_cast<int>(numbers.size() - kBehind) / dim;
    kernels::Runs runs{{}, dim, length, 0, lines};
    for (int r = 0; r < kernels::kRuns && r * length < lines; ++r) {
      runs.of[r] = {numbers.data() + r * length * dim, kernels::Precision::byte, scales.data() + r * length};
    }
    return runs;
  }
  [[nodiscard]] double at(int line, int d) const {
    return static_cast<double>(scales[static_cast<std::size_t>(line)]) *
           numbers[static_cast<std::size_t>(line * dim + d)];
  }

  int dim;
  std::vector<std::int8_t> numbers;
  std::vector<float> scales;
};

/// Calls count_wrong(dim, lines, run) for sizes around vectors and units, in one run and in up to four.
void check_sizes(auto count_wrong) {
  for (const int dim : {1, 4, 7, 15, 16, 17, 33, 64, 100, 128, 300}) {
    for (const int lines : {1, 2, 3, 4, 5, 31, 32, 33, 64, 97, 384, 500}) {
      for (const int parts : {1, 3, 4}) {
        const int run = (lines + parts - 1) / parts;
        INFO(dim << " numbers, " << lines << " lines in runs of " << run);
        CHECK(count_wrong(dim, lines, run) == 0);
      }
    }
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("keys in bytes meet each number of a query once", "", TestedArchs) {
  Random random(260);
  check_sizes([&](int dim, int lines, int run) {
    const Bytes keys(random, lines, dim);
    const std::vector<float> signs = draw_signs(random, dim);
    Room query(dim);
    std::ranges::copy(signs, query.numbers);
    alignas(64) float scores[512];
    const float unit = kernels::make_words(query.numbers, dim);
    const kernels::WordQuery words{reinterpret_cast<const std::int16_t*>(query.numbers), unit};
    kernels::score_row_of_bytes<TestType>(words, keys.in_runs(run), dim, scores);
    int wrong = 0;
    for (int j = 0; j < lines; ++j) {
      double exact = 0.0;
      for (int d = 0; d < dim; ++d) exact += static_cast<double>(signs[static_cast<std::size_t>(d)]) * keys.at(j, d);
      wrong += std::abs(static_cast<double>(scores[j]) - exact) < 0.1 ? 0 : 1;
    }
    return wrong;
  });
}

TEMPLATE_LIST_TEST_CASE("values in bytes take each weight once", "", TestedArchs) {
  Random random(261);
  check_sizes([&](int dim, int lines, int run) {
    const Bytes values(random, lines, dim);
    const std::vector<float> signs = draw_signs(random, lines);
    std::vector<float> weights = signs;
    Room output(dim);
    kernels::add_bytes_to_row<TestType>(weights.data(), values.in_runs(run), dim, output.numbers);
    int wrong = 0;
    for (int d = 0; d < dim; ++d) {
      double exact = 0.0;
      for (int j = 0; j < lines; ++j)
        exact += static_cast<double>(signs[static_cast<std::size_t>(j)]) * values.at(j, d);
      // Scales of a half are 16383.5 of 32767, rounded to one of its neighbours: a 65534th of a byte's 127 a line.
      wrong += std::abs(static_cast<double>(output.numbers[d]) - exact) < 0.1 + 0.002 * lines ? 0 : 1;
    }
    return wrong;
  });
}

}  // namespace heed::testing
