// Rows, matrices and their bounds, for the tests of layers.
#pragma once

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "error_model.hpp"
#include "heed/machine.hpp"
#include "operations/affine.hpp"
#include "operations/pack.hpp"
#include "support.hpp"

namespace heed::testing {

/// Rows with numbers between them that no result may show, or touch.
struct OwnedRows {
  std::vector<float> numbers;
  Rows<float> rows;

  OwnedRows(Index count, Index length, float filler, Index padding = 0)
      : numbers(static_cast<std::size_t>(count * (length + padding) + 1), filler),
        rows{numbers.data(), count, length, length + padding} {}
  OwnedRows(OwnedRows&&) noexcept = default;
  OwnedRows& operator=(OwnedRows&&) noexcept = default;
  OwnedRows(const OwnedRows&) = delete;
  OwnedRows& operator=(const OwnedRows&) = delete;
  ~OwnedRows() = default;

  [[nodiscard]] Rows<const float> reading() const { return {rows.data, rows.count, rows.length, rows.stride}; }
  [[nodiscard]] double at(Index row, Index i) const { return static_cast<double>(rows.row(row)[i]); }
};

inline OwnedRows random_rows(Random& random, Index count, Index length, Index padding = 0, float deviation = 1.0F) {
  OwnedRows made(count, length, kNan, padding);
  for (Index row = 0; row < count; ++row) {
    for (Index i = 0; i < length; ++i) made.rows.row(row)[i] = deviation * random.normal();
  }
  return made;
}

inline std::vector<float> random_numbers(Random& random, Index count) {
  std::vector<float> made(static_cast<std::size_t>(count));
  for (float& number : made) number = random.normal();
  return made;
}

inline WeightMatrix matrix_of(const std::vector<float>& numbers, Index outputs, Index inputs) {
  return {.data = numbers.data(), .outputs = outputs, .inputs = inputs, .output_stride = inputs, .input_stride = 1};
}

/// Packed for one instance, aligned as it must be.
class Packed {
 public:
  Packed(const WeightMatrix& matrix) : Packed(std::vector<WeightMatrix>{matrix}) {}

  /// Several matrices one after the other.
  Packed(const std::vector<WeightMatrix>& matrices) {
    Index floats = 0;
    for (const WeightMatrix& matrix : matrices) floats += packed_floats(matrix.outputs, matrix.inputs);
    numbers_.assign(static_cast<std::size_t>(floats + 16), kNan);
    const auto address = reinterpret_cast<std::uintptr_t>(numbers_.data());
    data_ = numbers_.data() + (64 - address % 64) % 64 / sizeof(float);
    float* next = data_;
    for (const WeightMatrix& matrix : matrices) {
      is_packed_ = is_packed_ && pack_weights(matrix, next).is_ok();
      next += packed_floats(matrix.outputs, matrix.inputs);
    }
  }

  [[nodiscard]] const float* data() const { return is_packed_ ? data_ : nullptr; }

 private:
  std::vector<float> numbers_;
  float* data_ = nullptr;
  bool is_packed_ = true;
};

/// Runs an operation, which must succeed.
template <typename Call>
void compute(const Call& call, Executor& executor = calling_thread()) {
  const Status status = run(call, executor);
  INFO(status.message());
  REQUIRE(status.is_ok());
}

/// Of a sum of `count` products, computed in any order: each product and each partial sum is rounded once. Roundings
/// are independent, as in error_model.hpp: kGrowth * u * sqrt(sum of squares). Partial sums are at most `size`, the sum
/// of the products' magnitudes.
inline double dot_bound(Index count, double size) {
  return kGrowth * kUnitRoundoff * size * std::sqrt(static_cast<double>(count) + 2.0) + 0x1p-140;
}

}  // namespace heed::testing
