// Validates the inputs of a gated recurrent unit and states what is left to compute.
#pragma once

#include "heed/gru.hpp"

namespace heed {

struct GruProblem {
  Index batch;
  Index steps;
  Index hidden;

  GruInputs inputs;
  GruOptions options;
  GruOutputs outputs;

  /// The row of the n-th step that is computed for a batch entry.
  [[nodiscard]] Index row_of(Index entry, Index n) const {
    return entry * steps + (options.is_reversed ? steps - 1 - n : n);
  }
};

/// Fills `problem`, or says which rule the call breaks.
Status make_gru_problem(const GruInputs& inputs, const GruOptions& options, const GruOutputs& outputs,
                        GruProblem& problem);

}  // namespace heed
