// Prints the layout of the calls of layers, and their numbers, as a TypeScript module: run by the build, so that the
// two sides cannot drift apart.
#include "bindings/layer_call.hpp"
#include "bindings/print_layout.hpp"
#include "heed/vocabulary.hpp"

using namespace heed::bindings;  // NOLINT(google-build-using-namespace): a program of one table each

namespace {

constexpr Field kPackCallFields[] = {
    {"operation", offsetof(PackCall, header.operation)},
    {"matrix", offsetof(PackCall, matrix)},
    {"packed", offsetof(PackCall, packed)},
};

constexpr Field kAffineCallFields[] = {
    {"operation", offsetof(AffineCall, header.operation)},
    {"input", offsetof(AffineCall, input)},
    {"weights", offsetof(AffineCall, weights)},
    {"bias", offsetof(AffineCall, rule.bias)},
    {"factor", offsetof(AffineCall, rule.factor)},
    {"addend", offsetof(AffineCall, rule.addend)},
    {"activation", offsetof(AffineCall, rule.activation)},
    {"output", offsetof(AffineCall, output)},
};

constexpr Field kPointwiseCallFields[] = {
    {"operation", offsetof(PointwiseCall, header.operation)},
    {"input", offsetof(PointwiseCall, input)},
    {"bias", offsetof(PointwiseCall, rule.bias)},
    {"factor", offsetof(PointwiseCall, rule.factor)},
    {"addend", offsetof(PointwiseCall, rule.addend)},
    {"activation", offsetof(PointwiseCall, rule.activation)},
    {"output", offsetof(PointwiseCall, output)},
};

constexpr Field kNormCallFields[] = {
    {"operation", offsetof(NormCall, header.operation)},
    {"input", offsetof(NormCall, input)},
    {"weight", offsetof(NormCall, weight)},
    {"bias", offsetof(NormCall, bias)},
    {"isCentred", offsetof(NormCall, is_centred)},
    {"epsilon", offsetof(NormCall, epsilon)},
    {"output", offsetof(NormCall, output)},
};

constexpr Field kGatherCallFields[] = {
    {"operation", offsetof(GatherCall, header.operation)},
    {"table", offsetof(GatherCall, table)},
    {"indices", offsetof(GatherCall, indices)},
    {"output", offsetof(GatherCall, output)},
};

constexpr Field kGruCallFields[] = {
    {"operation", offsetof(GruCall, header.operation)},
    {"gates", offsetof(GruCall, gates)},
    {"weights", offsetof(GruCall, weights)},
    {"bias", offsetof(GruCall, bias)},
    {"state", offsetof(GruCall, state)},
    {"batch", offsetof(GruCall, batch)},
    {"isReversed", offsetof(GruCall, is_reversed)},
    {"states", offsetof(GruCall, states)},
    {"last", offsetof(GruCall, last)},
};

constexpr Named kOperations[] = {
    {"pack", Operation::pack_weights}, {"affine", Operation::affine}, {"pointwise", Operation::pointwise},
    {"norm", Operation::norm},         {"gather", Operation::gather}, {"gru", Operation::gru},
};

constexpr Named kActivations[] = {
    {"none", heed::Activation::none},           {"relu", heed::Activation::relu}, {"gelu", heed::Activation::gelu},
    {"gelu-tanh", heed::Activation::gelu_tanh}, {"silu", heed::Activation::silu}, {"tanh", heed::Activation::tanh},
    {"sigmoid", heed::Activation::sigmoid},
};

}  // namespace

int main() {
  std::puts("// Made by the build from cpp/bindings/layer_call.hpp: word offsets of packed calls.");
  print_layout("PACK_CALL", sizeof(PackCall), kPackCallFields);
  print_layout("AFFINE_CALL", sizeof(AffineCall), kAffineCallFields);
  print_layout("POINTWISE_CALL", sizeof(PointwiseCall), kPointwiseCallFields);
  print_layout("NORM_CALL", sizeof(NormCall), kNormCallFields);
  print_layout("GATHER_CALL", sizeof(GatherCall), kGatherCallFields);
  print_layout("GRU_CALL", sizeof(GruCall), kGruCallFields);
  print_numbers("OPERATION", kOperations);
  print_numbers("ACTIVATION", kActivations);
  return 0;
}
