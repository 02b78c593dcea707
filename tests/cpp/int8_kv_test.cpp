// int8 rows against whole numbers: every row and every number counts once, wherever vectors and tiles end.
#include "kernels/decode/int8_kv.hpp"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "heed/rounding.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

/// -1, 0 and 1 are exact as int16 of any scale, which is that of the largest.
std::vector<float> draw_signs(Random& random, int count) {
  std::vector<float> signs(static_cast<std::size_t>(count));
  for (float& sign : signs) sign = static_cast<float>(random.below(3) - 1);
  return signs;
}

/// Room for a query or an output, as kernels have it: zeros up to a whole vector, and anything behind.
struct Room {
  explicit Room(int dim) {
    std::ranges::fill(numbers, std::numeric_limits<float>::quiet_NaN());
    std::fill_n(numbers, round_up(dim, kernels::kLanes), 0.0F);
  }
  alignas(64) float numbers[320];
};

/// Rows in tiles, in up to two streams with a memory of their own, and what tiles have of other rows.
class Int8Rows {
 public:
  Int8Rows(Random& random, DType dtype, int rows, int stream, int dim)
      : rows_(static_cast<std::size_t>(rows * dim)), scales_(static_cast<std::size_t>(rows)), dim_(dim) {
    for (std::int8_t& number : rows_) number = static_cast<std::int8_t>(random.below(255) - 127);
    for (float& scale : scales_) scale = random.chance(0.5) ? 1.0F : 0.5F;
    const bool are_keys = dtype == DType::i8_keys;
    const int width = are_keys ? (dim + 1) / 2 * 2 : (dim + 15) / 16 * 16;
    streams_ = {{}, width, stream, 0, rows};
    for (int r = 0; r < kernels::kStreams && r * stream < rows; ++r) {
      const int padded = (stream + 31) / 32 * 32;
      bytes_[r].assign(static_cast<std::size_t>(padded * width), std::int8_t{101});
      own_scales_[r].assign(static_cast<std::size_t>(padded), std::numeric_limits<float>::quiet_NaN());
      streams_.of[r] = {bytes_[r].data(), dtype, own_scales_[r].data()};
      for (int at = 0; at < stream && r * stream + at < rows; ++at) {
        own_scales_[r][static_cast<std::size_t>(at)] = scales_[static_cast<std::size_t>(r * stream + at)];
        for (int d = 0; d < dim; ++d) {
          const int of_key = at / 16 * 16 * width + d / 2 * 32 + at % 16 * 2 + d % 2;
          const int of_value = at / 32 * 32 * width + d / 16 * 512 + at % 32 / 2 * 32 + d % 16 * 2 + at % 2;
          bytes_[r][static_cast<std::size_t>(are_keys ? of_key : of_value)] =
              rows_[static_cast<std::size_t>((r * stream + at) * dim + d)];
        }
      }
    }
  }
  /// The rows from `first` on.
  [[nodiscard]] kernels::StreamPair from(int first) const {
    kernels::StreamPair rest = streams_;
    rest.first = first;
    rest.count -= first;
    return rest;
  }
  [[nodiscard]] double at(int row, int d) const {
    return static_cast<double>(scales_[static_cast<std::size_t>(row)]) *
           rows_[static_cast<std::size_t>(row * dim_ + d)];
  }
  void set_scale(int row, float scale) { own_scales_[0][static_cast<std::size_t>(row)] = scale; }

 private:
  std::vector<std::int8_t> rows_;
  std::vector<float> scales_;
  int dim_;
  kernels::StreamPair streams_{};
  std::vector<std::int8_t> bytes_[kernels::kStreams];
  std::vector<float> own_scales_[kernels::kStreams];
};

/// Calls count_wrong(dim, rows, stream) for sizes around vectors and tiles, in one stream, in two, and where the second
/// is the shorter.
void check_sizes(auto count_wrong) {
  for (const int dim : {1, 4, 7, 15, 16, 17, 33, 64, 100, 128, 300}) {
    for (const int rows : {1, 2, 3, 4, 5, 31, 32, 33, 64, 97, 384, 500}) {
      for (const int stream : {rows, (rows + 1) / 2, (2 * rows + 2) / 3}) {
        INFO(dim << " numbers, " << rows << " rows in streams of " << stream);
        CHECK(count_wrong(dim, rows, stream) == 0);
      }
    }
  }
}

}  // namespace

TEST_CASE("int8 keys meet each number of a query once") {
  Random random(260);
  check_sizes([&](int dim, int rows, int stream) {
    const Int8Rows keys(random, DType::i8_keys, rows, stream, dim);
    const std::vector<float> signs = draw_signs(random, dim);
    Room query(dim);
    std::ranges::copy(signs, query.numbers);
    const float scale = kernels::quantize_query(query.numbers, dim);
    const kernels::I16Query quantized{reinterpret_cast<const std::int16_t*>(query.numbers), scale};
    int wrong = 0;
    for (const int first : {0, rows / 2}) {
      std::vector<float> scores(static_cast<std::size_t>(rows) + 2, 12345.0F);
      kernels::score_i8_keys(quantized, keys.from(first), dim, scores.data() + 1);
      for (int j = first; j < rows; ++j) {
        double exact = 0.0;
        for (int d = 0; d < dim; ++d) exact += static_cast<double>(signs[static_cast<std::size_t>(d)]) * keys.at(j, d);
        wrong += std::abs(static_cast<double>(scores[static_cast<std::size_t>(1 + j - first)]) - exact) < 0.1 ? 0 : 1;
      }
      // None is written before the first, or behind the last.
      wrong += scores[0] == 12345.0F && scores[static_cast<std::size_t>(1 + rows - first)] == 12345.0F ? 0 : 1;
    }
    return wrong;
  });
}

TEST_CASE("int8 values take each weight once") {
  Random random(261);
  check_sizes([&](int dim, int rows, int stream) {
    const Int8Rows values(random, DType::i8_values, rows, stream, dim);
    int wrong = 0;
    for (const int first : {0, rows / 2}) {
      const std::vector<float> weights = draw_signs(random, rows - first);
      Room output(dim);
      kernels::add_i8_values(weights.data(), values.from(first), dim, output.numbers);
      for (int d = 0; d < dim; ++d) {
        double exact = 0.0;
        for (int j = first; j < rows; ++j) {
          exact += static_cast<double>(weights[static_cast<std::size_t>(j - first)]) * values.at(j, d);
        }
        // Scales of a half are 16383.5 of 32767, rounded to one of its neighbours: a 65534th of 127 a row.
        wrong += std::abs(static_cast<double>(output.numbers[d]) - exact) < 0.1 + 0.002 * rows ? 0 : 1;
      }
    }
    return wrong;
  });
}

TEST_CASE("an int8 value whose weight is zero counts for nothing, whatever its scale") {
  Random random(262);
  Int8Rows values(random, DType::i8_values, 40, 40, 16);
  values.set_scale(5, std::numeric_limits<float>::infinity());
  values.set_scale(38, std::numeric_limits<float>::quiet_NaN());
  std::vector<float> weights(40, 0.0F);
  weights[4] = weights[39] = 1.0F;
  Room output(16);
  kernels::add_i8_values(weights.data(), values.from(0), 16, output.numbers);
  for (int d = 0; d < 16; ++d) {
    CHECK(std::abs(static_cast<double>(output.numbers[d]) - values.at(4, d) - values.at(39, d)) < 0.1);
  }
}

}  // namespace heed::testing
