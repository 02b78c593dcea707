// Losses, means over what counts, with the gradients of the predictions.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// The mean over rows that count of -log softmax(logits)[target], as PyTorch has it; 0 where none counts.
struct CrossEntropyCall {
  Rows<const float> logits;
  const std::int32_t* targets;  // a column for each row
  std::int32_t ignored = -100;  // a row with this target counts for nothing
  float smoothing = 0.0F;       // of labels, from 0 to below 1
  Rows<float> loss;             // [1, 1]
  Rows<float> gradient;         // of the loss, in the shape of the logits

  HEED_FIELDS(logits, targets, ignored, smoothing, loss, gradient)
};

/// Nothing may overlap. Fails without writing when an input breaks a rule.
Status run(const CrossEntropyCall& call, Executor& executor, const StopFlag* stop = nullptr);

enum class ElementLoss : std::uint32_t { squared_error = 0, binary_cross_entropy = 1 };

/// The mean over all numbers of [1, n]. Binary cross-entropy is that of logits.
struct ElementLossCall {
  Rows<const float> predictions;
  Rows<const float> targets;
  ElementLoss kind;
  Rows<float> loss;
  Rows<float> gradient;

  HEED_FIELDS(predictions, targets, kind, loss, gradient)
};

Status run(const ElementLossCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
