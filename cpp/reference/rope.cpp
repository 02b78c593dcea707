#include "reference/rope.hpp"

#include <cmath>

#include "reference/numbers.hpp"

namespace heed::reference {
namespace {

struct Rotation {
  double cosine, sine;
};

Rotation turn_of(const RopeInputs& inputs, const RopeOptions& options, Index batch, Index place, Index pair) {
  const Index length = inputs.input.shape[2];
  const double position = options.positions == nullptr
                              ? static_cast<double>(place)
                              : options.positions[(options.positions_by_batch ? batch * length : 0) + place];
  if (!inputs.cosines.is_present()) {
    const double angle = position * options.frequencies[pair];
    return {std::cos(angle), std::sin(angle)};
  }
  const Index entry = inputs.cosines.shape[0] == 1 ? 0 : batch;
  const auto row = static_cast<Index>(position);
  const auto at = static_cast<std::size_t>(pair);
  return {read_row(inputs.cosines, entry, 0, row)[at], read_row(inputs.sines, entry, 0, row)[at]};
}

}  // namespace

std::vector<double> rope(const RopeInputs& inputs, const RopeOptions& options) {
  const auto [batch, heads, length, dim] = inputs.input.shape;
  const Index pairs = (options.rotary_dim == 0 ? dim : options.rotary_dim) / 2;
  const double magnitude = options.magnitude;
  std::vector<double> output;
  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < heads; ++h) {
      for (Index l = 0; l < length; ++l) {
        std::vector<double> row = read_row(inputs.input, b, h, l);
        for (Index i = 0; i < pairs; ++i) {
          double& x = row[static_cast<std::size_t>(options.interleaved ? 2 * i : i)];
          double& y = row[static_cast<std::size_t>(options.interleaved ? 2 * i + 1 : i + pairs)];
          Rotation turn = turn_of(inputs, options, b, l, i);
          if (options.inverse) turn.sine = -turn.sine;
          const double turned = magnitude * (x * turn.cosine - y * turn.sine);
          y = magnitude * (x * turn.sine + y * turn.cosine);
          x = turned;
        }
        output.insert(output.end(), row.begin(), row.end());
      }
    }
  }
  return output;
}

}  // namespace heed::reference
