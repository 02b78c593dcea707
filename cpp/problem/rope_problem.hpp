// Validates the inputs and options of rope and states what is left to compute.
#pragma once

#include "heed/rope.hpp"

namespace heed {

/// A well-formed call, every default filled in.
struct RopeProblem {
  Index batch;
  Index heads;
  Index length;
  Index head_dim;
  Index pairs;

  RopeInputs inputs;
  RopeOptions options;
  TensorView<float> output;

  /// The position of a token of the input.
  [[nodiscard]] double position_of(Index b, Index l) const {
    if (options.positions == nullptr) return static_cast<double>(l);
    return options.positions[(options.positions_by_batch ? b * length : 0) + l];
  }
  [[nodiscard]] bool has_tables() const { return inputs.cosines.is_present(); }
};

/// Fills `problem`, or says which rule the call breaks.
Status make_rope_problem(const RopeInputs& inputs, const RopeOptions& options, const TensorView<float>& output,
                         RopeProblem& problem);

}  // namespace heed
