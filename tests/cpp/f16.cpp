#include "f16.hpp"

#include <algorithm>
#include <cmath>

#include "reference/numbers.hpp"

namespace heed::testing {

Float16 round_to_half(float number) {
  const unsigned sign = std::signbit(number) ? 0x8000U : 0U;
  if (std::isnan(number)) return static_cast<Float16>(sign | 0x7E00U);
  const double size = std::abs(static_cast<double>(number));
  // Halfway from the largest, 65504, to what would be next.
  if (size >= 65520.0) return static_cast<Float16>(sign | 0x7C00U);
  const int exponent = size == 0.0 ? -14 : std::max(std::ilogb(size), -14);
  // In units of the last place: 1024 to 2048, less for subnormal numbers. A carry goes into the exponent by itself.
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return static_cast<Float16>(sign | (static_cast<unsigned>(exponent + 14) * 1024U + units));
}

Owned<Float16> halve(Owned<float>& tensor, Layout layout) {
  Owned<Float16> f16s = allocate(tensor.view.shape, layout, round_to_half(kNan));
  for_each_element(tensor.view.shape, [&](Index b, Index h, Index i, Index d) {
    f16s(b, h, i, d) = round_to_half(tensor(b, h, i, d));
    tensor(b, h, i, d) = static_cast<float>(reference::value_of(f16s(b, h, i, d)));
  });
  return f16s;
}

}  // namespace heed::testing
