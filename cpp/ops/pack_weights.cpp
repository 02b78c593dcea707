#include "heed/affine.hpp"
#include "heed/rounding.hpp"
#include "kernels/simd/width.hpp"
#include "problem/check_rows.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"packWeights"};

}  // namespace

Index packed_floats(Index outputs, Index inputs) { return round_up(outputs, kernels::kPanel) * inputs; }

Status pack_weights(const WeightMatrix& matrix, float* packed) {
  const auto [data, outputs, inputs, output_stride, input_stride] = matrix;
  if (outputs < 0 || inputs < 0 || outputs > kMaxSize || inputs > kMaxSize) {
    return kRules.broken(StatusCode::shape,
                         {"sizes must be between 0 and 2^30, got ", outputs, " outputs of ", inputs, " inputs"});
  }
  if ((data == nullptr || packed == nullptr) && outputs > 0 && inputs > 0) {
    return kRules.broken(StatusCode::shape, {"the matrix must have data, got none"});
  }
  for (Index first = 0; first < outputs; first += kernels::kPanel) {
    for (Index i = 0; i < inputs; ++i) {
      for (Index lane = 0; lane < kernels::kPanel; ++lane) {
        const Index output = first + lane;
        *packed++ = output < outputs ? data[output * output_stride + i * input_stride] : 0.0F;
      }
    }
  }
  return {};
}

}  // namespace heed
