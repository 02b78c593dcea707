// Losses, means over what counts, with the gradients of the predictions.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

struct CrossEntropyInputs {
  Rows<const float> logits;
  const std::int32_t* targets;  // a column for each row
  std::int32_t ignored = -100;  // a row with this target counts for nothing
  float smoothing = 0.0F;       // of labels, from 0 to below 1
};

struct LossOutputs {
  Rows<float> loss;      // [1, 1]
  Rows<float> gradient;  // of the loss, in the shape of the predictions
};

/// The mean over rows that count of -log softmax(logits)[target], as PyTorch has it; 0 where none counts. Nothing may
/// overlap. Fails without writing when an input breaks a rule.
Status cross_entropy(const CrossEntropyInputs& inputs, const LossOutputs& outputs, Executor& executor,
                     const StopFlag* stop = nullptr);

enum class ElementLoss : std::uint32_t { squared_error = 0, binary_cross_entropy = 1 };

/// The mean over all numbers of [1, n]. Binary cross-entropy is that of logits.
Status element_loss(ElementLoss kind, const Rows<const float>& predictions, const Rows<const float>& targets,
                    const LossOutputs& outputs);

struct CrossEntropyCall {
  CallHeader header;
  PackedView logits;
  std::uint32_t targets;  // address of one int32 a row
  std::int32_t ignored;
  float smoothing;
  PackedView loss;
  PackedView gradient;

  HEED_FIELDS(header, logits, targets, ignored, smoothing, loss, gradient)
};

Status run(const CrossEntropyCall& call, Executor& executor);

struct ElementLossCall {
  CallHeader header;
  PackedView predictions;
  PackedView targets;
  ElementLoss kind;
  PackedView loss;
  PackedView gradient;

  HEED_FIELDS(header, predictions, targets, kind, loss, gradient)
};

Status run(const ElementLossCall& call, Executor& executor);

}  // namespace heed
