// Unpacks and runs the calls of layers.
#include "bindings/layer_call.hpp"
#include "bindings/run_call.hpp"
#include "heed/affine.hpp"
#include "heed/gather_rows.hpp"
#include "heed/gru.hpp"
#include "heed/normalize_rows.hpp"
#include "heed/pointwise.hpp"

namespace heed::bindings {
namespace {

template <typename T>
Rows<T> unpack_rows(const PackedView& view) {
  return {reinterpret_cast<T*>(view.address), view.shape[2], view.shape[3], view.strides[2]};
}

Pointwise unpack_rule(const PackedPointwise& rule) {
  return {.activation = static_cast<Activation>(rule.activation),
          .bias = numbers<float>(rule.bias.address),
          .factor = unpack_rows<const float>(rule.factor),
          .addend = unpack_rows<const float>(rule.addend)};
}

Status run_pack(const PackCall& call) {
  const auto view = unpack<const float>(call.matrix);
  const Index matrices = view.shape[1], outputs = view.shape[2], inputs = view.shape[3];
  const Index floats = packed_floats(outputs, inputs);
  if (call.packed.shape[3] != matrices * floats) {
    return {StatusCode::shape, "packWeights: the packed matrices must have room for all, got another size"};
  }
  auto* const packed = reinterpret_cast<float*>(call.packed.address);
  for (Index matrix = 0; matrix < matrices; ++matrix) {
    const Status status = pack_weights({.data = view.data + matrix * view.strides[1],
                                        .outputs = outputs,
                                        .inputs = inputs,
                                        .output_stride = view.strides[2],
                                        .input_stride = view.strides[3]},
                                       packed + matrix * floats);
    if (!status.is_ok()) return status;
  }
  return {};
}

Status run_affine(const AffineCall& call, Executor& executor) {
  return affine({unpack_rows<const float>(call.input), numbers<float>(call.weights.address)}, unpack_rule(call.rule),
                unpack_rows<float>(call.output), executor, stop_of(call.header));
}

Status run_pointwise(const PointwiseCall& call, Executor& executor) {
  return pointwise(unpack_rows<const float>(call.input), unpack_rule(call.rule), unpack_rows<float>(call.output),
                   executor, stop_of(call.header));
}

Status run_norm(const NormCall& call, Executor& executor) {
  return normalize_rows(unpack_rows<const float>(call.input),
                        {.is_centred = call.is_centred != 0,
                         .epsilon = call.epsilon,
                         .weight = numbers<float>(call.weight.address),
                         .bias = numbers<float>(call.bias.address),
                         .stop = stop_of(call.header)},
                        unpack_rows<float>(call.output), executor);
}

Status run_gru(const GruCall& call, Executor& executor) {
  return gru({.gates = unpack_rows<const float>(call.gates),
              .weights = numbers<float>(call.weights.address),
              .bias = numbers<float>(call.bias.address),
              .state = unpack_rows<const float>(call.state)},
             {.batch = call.batch, .is_reversed = call.is_reversed != 0, .stop = stop_of(call.header)},
             {.states = unpack_rows<float>(call.states), .last = unpack_rows<float>(call.last)}, executor);
}

Status run_gather(const GatherCall& call) {
  return gather_rows(unpack_rows<const float>(call.table), numbers<std::int32_t>(call.indices),
                     unpack_rows<float>(call.output));
}

}  // namespace

Status run_layer(std::uint32_t address, Executor& executor) {
  const auto operation = static_cast<Operation>(reinterpret_cast<const CallHeader*>(address)->operation);
  switch (operation) {
    case Operation::pack_weights:
      return run_pack(*reinterpret_cast<const PackCall*>(address));
    case Operation::affine:
      return run_affine(*reinterpret_cast<const AffineCall*>(address), executor);
    case Operation::pointwise:
      return run_pointwise(*reinterpret_cast<const PointwiseCall*>(address), executor);
    case Operation::norm:
      return run_norm(*reinterpret_cast<const NormCall*>(address), executor);
    case Operation::gather:
      return run_gather(*reinterpret_cast<const GatherCall*>(address));
    case Operation::gru:
      return run_gru(*reinterpret_cast<const GruCall*>(address), executor);
    default:
      return {StatusCode::unsupported, "layers: this module does not know the operation"};
  }
}

}  // namespace heed::bindings
