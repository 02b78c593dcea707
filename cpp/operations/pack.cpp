#include "operations/pack.hpp"

#include "heed/rounding.hpp"
#include "kernels/simd/width.hpp"
#include "problem/failures.hpp"
#include "problem/max_size.hpp"

namespace heed {
namespace {

Status wrong_shape(std::initializer_list<MessagePart> rule) { return broken("packWeights", StatusCode::shape, rule); }

}  // namespace

Index packed_floats(Index outputs, Index inputs) { return round_up(outputs, kernels::kPanel) * inputs; }

Status pack_weights(const WeightMatrix& matrix, float* packed) {
  const auto [data, outputs, inputs, output_stride, input_stride] = matrix;
  if (outputs < 0 || inputs < 0 || outputs > kMaxSize || inputs > kMaxSize) {
    return wrong_shape({"sizes must be between 0 and 2^30, got ", outputs, " outputs of ", inputs, " inputs"});
  }
  if ((data == nullptr || packed == nullptr) && outputs > 0 && inputs > 0) {
    return wrong_shape({"the matrix must have data, got none"});
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

Status run(const PackCall& call, Executor& /*executor*/) {
  const auto view = unpack<const float>(call.matrix);
  const Index matrices = view.shape[1], outputs = view.shape[2], inputs = view.shape[3];
  const Index floats = packed_floats(outputs, inputs);
  if (call.packed.shape[3] != matrices * floats) {
    return wrong_shape({"the packed matrices must have room for all, got another size"});
  }
  for (Index matrix = 0; matrix < matrices; ++matrix) {
    const Status status = pack_weights({.data = view.at(0, matrix, 0),
                                        .outputs = outputs,
                                        .inputs = inputs,
                                        .output_stride = view.strides[2],
                                        .input_stride = view.strides[3]},
                                       pointer<float>(call.packed.address) + matrix * floats);
    if (!status.is_ok()) return status;
  }
  return {};
}

}  // namespace heed
