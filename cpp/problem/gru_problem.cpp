#include "problem/gru_problem.hpp"

#include "problem/check_rows.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"gru"};
constexpr Index kGates = 3;

}  // namespace

Status make_gru_problem(const GruInputs& inputs, const GruOptions& options, const GruOutputs& outputs,
                        GruProblem& problem) {
  const Rows<const float>& gates = inputs.gates;
  if (options.batch < 1 || gates.count % options.batch != 0) {
    return kRules.broken(StatusCode::shape, {"gates must have as many rows for each of the batch's entries, got ",
                                             gates.count, " for ", options.batch});
  }
  if (gates.length < kGates || gates.length % kGates != 0) {
    return kRules.broken(StatusCode::shape,
                         {"gates must have three numbers for each of the state, got ", gates.length});
  }
  const Index hidden = gates.length / kGates;
  Status status =
      first_failure({kRules.check_sizes("gates", gates), kRules.check("states", outputs.states, gates.count, hidden),
                     kRules.check("last", outputs.last, options.batch, hidden)});
  if (!status.is_ok()) return status;
  if (inputs.weights == nullptr) return kRules.broken(StatusCode::shape, {"weights must have data, got none"});
  problem = {.batch = options.batch,
             .steps = gates.count / options.batch,
             .hidden = hidden,
             .inputs = inputs,
             .options = options,
             .outputs = outputs};
  return inputs.state.is_present() ? kRules.check("state", inputs.state, options.batch, hidden) : Status{};
}

}  // namespace heed
