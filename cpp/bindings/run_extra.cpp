// Unpacks and runs the calls beside attention.
#include <cmath>

#include "bindings/extra_call.hpp"
#include "bindings/run_call.hpp"
#include "heed/linear_attention.hpp"
#include "heed/rope.hpp"

namespace heed::bindings {
namespace {

Status run_rope(const RopeCall& call, Executor& executor) {
  return rope({.input = unpack(call.input, call.input_type),
               .cosines = unpack<const float>(call.cosines),
               .sines = unpack<const float>(call.sines)},
              {.rotary_dim = call.rotary_dim,
               .interleaved = call.interleaved != 0,
               .inverse = call.inverse != 0,
               .frequencies = numbers<double>(call.frequencies),
               .positions = numbers<double>(call.positions),
               .positions_by_batch = call.positions_by_batch != 0,
               .magnitude = call.magnitude,
               .stop = stop_of(call.header)},
              unpack<float>(call.output), executor);
}

Status run_linear(const LinearCall& call, Executor& executor) {
  LinearOptions options{
      .rule = static_cast<LinearRule>(call.rule), .causal = call.causal != 0, .stop = stop_of(call.header)};
  if (!std::isnan(call.scale)) options.scale = call.scale;
  return linear_attention({.query = unpack(call.query, call.query_type),
                           .key = unpack(call.key, call.key_type),
                           .value = unpack(call.value, call.value_type),
                           .decay = unpack<const float>(call.decay),
                           .beta = unpack<const float>(call.beta),
                           .state = unpack<const float>(call.state)},
                          options, {.output = unpack<float>(call.output), .state = unpack<float>(call.new_state)},
                          executor);
}

}  // namespace

Status run_extra(std::uint32_t address, Executor& executor) {
  const auto& header = *reinterpret_cast<const CallHeader*>(address);
  if (static_cast<Operation>(header.operation) == Operation::rope) {
    return run_rope(*reinterpret_cast<const RopeCall*>(address), executor);
  }
  return run_linear(*reinterpret_cast<const LinearCall*>(address), executor);
}

}  // namespace heed::bindings
