// Prints the layout of the calls beside attention, and their numbers, as a TypeScript module: run by the build, so that
// the two sides cannot drift apart.
#include "bindings/extra_call.hpp"
#include "bindings/print_layout.hpp"
#include "heed/vocabulary.hpp"

using heed::bindings::Field;
using heed::bindings::LinearCall;
using heed::bindings::Named;
using heed::bindings::Operation;
using heed::bindings::RopeCall;

namespace {

constexpr Field kRopeFields[] = {
    {"stop", offsetof(RopeCall, header.stop)},
    {"operation", offsetof(RopeCall, header.operation)},
    {"input", offsetof(RopeCall, input)},
    {"cosines", offsetof(RopeCall, cosines)},
    {"sines", offsetof(RopeCall, sines)},
    {"output", offsetof(RopeCall, output)},
    {"frequencies", offsetof(RopeCall, frequencies)},
    {"positions", offsetof(RopeCall, positions)},
    {"positionsByBatch", offsetof(RopeCall, positions_by_batch)},
    {"rotaryDim", offsetof(RopeCall, rotary_dim)},
    {"interleaved", offsetof(RopeCall, interleaved)},
    {"inverse", offsetof(RopeCall, inverse)},
    {"magnitude", offsetof(RopeCall, magnitude)},
    {"inputType", offsetof(RopeCall, input_type)},
};

constexpr Field kLinearFields[] = {
    {"stop", offsetof(LinearCall, header.stop)}, {"operation", offsetof(LinearCall, header.operation)},
    {"query", offsetof(LinearCall, query)},      {"key", offsetof(LinearCall, key)},
    {"value", offsetof(LinearCall, value)},      {"decay", offsetof(LinearCall, decay)},
    {"beta", offsetof(LinearCall, beta)},        {"state", offsetof(LinearCall, state)},
    {"output", offsetof(LinearCall, output)},    {"newState", offsetof(LinearCall, new_state)},
    {"rule", offsetof(LinearCall, rule)},        {"causal", offsetof(LinearCall, causal)},
    {"scale", offsetof(LinearCall, scale)},      {"queryType", offsetof(LinearCall, query_type)},
    {"keyType", offsetof(LinearCall, key_type)}, {"valueType", offsetof(LinearCall, value_type)},
};

constexpr Named kOperations[] = {{"rope", Operation::rope}, {"linearAttention", Operation::linear_attention}};

constexpr Named kRules[] = {
    {"linear", heed::LinearRule::linear}, {"gated", heed::LinearRule::gated},
    {"delta", heed::LinearRule::delta},   {"gated-delta", heed::LinearRule::gated_delta},
    {"elu", heed::LinearRule::elu},
};

}  // namespace

int main() {
  std::puts("// Made by the build from cpp/bindings/extra_call.hpp: word offsets of packed calls.");
  heed::bindings::print_layout("ROPE_CALL", sizeof(RopeCall), kRopeFields);
  heed::bindings::print_layout("LINEAR_CALL", sizeof(LinearCall), kLinearFields);
  heed::bindings::print_numbers("OPERATION", kOperations);
  heed::bindings::print_numbers("RULE", kRules);
  return 0;
}
