#include "heed/affine.hpp"
#include "kernels/instances/instances.hpp"
#include "ops/layers_with.hpp"
#include "problem/check_rows.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"packWeights"};
constexpr Index kMaxSize = Index{1} << 30;

}  // namespace

Index packed_floats_for(const kernels::LayerKernels& kernels, Index outputs, Index inputs) {
  return (outputs + kernels.panel - 1) / kernels.panel * kernels.panel * inputs;
}

Index packed_floats(Index outputs, Index inputs) {
  return packed_floats_for(*kernels::runnable_layer_kernels().front(), outputs, inputs);
}

Status pack_weights_with(const kernels::LayerKernels& kernels, const WeightMatrix& matrix, float* packed) {
  const auto [data, outputs, inputs, output_stride, input_stride] = matrix;
  if (outputs < 0 || inputs < 0 || outputs > kMaxSize || inputs > kMaxSize) {
    return kRules.broken(StatusCode::shape,
                         {"sizes must be between 0 and 2^30, got ", outputs, " outputs of ", inputs, " inputs"});
  }
  if ((data == nullptr || packed == nullptr) && outputs > 0 && inputs > 0) {
    return kRules.broken(StatusCode::shape, {"the matrix must have data, got none"});
  }
  for (Index first = 0; first < outputs; first += kernels.panel) {
    for (Index i = 0; i < inputs; ++i) {
      for (Index lane = 0; lane < kernels.panel; ++lane) {
        const Index output = first + lane;
        *packed++ = output < outputs ? data[output * output_stride + i * input_stride] : 0.0F;
      }
    }
  }
  return {};
}

Status pack_weights(const WeightMatrix& matrix, float* packed) {
  return pack_weights_with(*kernels::runnable_layer_kernels().front(), matrix, packed);
}

}  // namespace heed
