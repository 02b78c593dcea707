#include "reference/numbers.hpp"

#include <cmath>
#include <limits>

namespace heed::reference {

double value_of(Float16 half) {
  const auto bits = static_cast<unsigned>(half);
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = static_cast<int>((bits >> 10U) & 0x1FU);
  const auto fraction = static_cast<double>(bits & 0x3FFU);
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent < 31) return sign * std::ldexp(1024.0 + fraction, exponent - 25);
  return fraction == 0.0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> read_row(const FloatView& view, Index batch, Index head, Index row) {
  const void* const start = view.at(batch, head, row);
  const auto number = [&](Index at) {
    switch (view.dtype) {
      case DType::f16:
        return value_of(static_cast<const Float16*>(start)[at]);
      case DType::i8_keys:
      case DType::i8_values:
        return static_cast<double>(view.int8_at(batch, head, row, at)) *
               static_cast<double>(*view.scale_at(batch, head, row));
      default:
        return static_cast<double>(static_cast<const float*>(start)[at]);
    }
  };
  std::vector<double> numbers;
  numbers.reserve(static_cast<std::size_t>(view.shape[3]));
  for (Index d = 0; d < view.shape[3]; ++d) {
    numbers.push_back(number(d * view.strides[3]));
  }
  return numbers;
}

std::vector<std::vector<double>> read_rows(const FloatView& view, Index batch, Index head) {
  std::vector<std::vector<double>> rows;
  rows.reserve(static_cast<std::size_t>(view.shape[2]));
  for (Index row = 0; row < view.shape[2]; ++row) rows.push_back(read_row(view, batch, head, row));
  return rows;
}

}  // namespace heed::reference
