// Losses with the gradients of the predictions.

import type { Operation } from "../../backends/backend.js";
import {
  CROSS_ENTROPY_CALL,
  ELEMENT_LOSS,
  ELEMENT_LOSS_CALL,
  OPERATION,
} from "../../backends/wasm/generated/operation-calls.js";
import { MEMORY_BOUND, operandOf, POINTWISE_COST, type Rows, rowsView } from "../rows.js";

export interface CrossEntropyProblem {
  readonly logits: Rows;
  /** A column for each row. */
  readonly targets: Int32Array<ArrayBuffer>;
  /** Rows with this target count for nothing. */
  readonly ignored: number;
  readonly smoothing: number;
}

/** Its results are the loss and its gradient in the logits. */
export const CROSS_ENTROPY: Operation<CrossEntropyProblem> = {
  name: "crossEntropy",
  module: "training",
  call: CROSS_ENTROPY_CALL,
  pack({ logits, targets, ignored, smoothing }, builder) {
    builder.integer(CROSS_ENTROPY_CALL.operation, OPERATION.crossEntropy);
    builder.input(CROSS_ENTROPY_CALL.logits, operandOf(logits));
    builder.numbers(CROSS_ENTROPY_CALL.targets, targets);
    builder.integer(CROSS_ENTROPY_CALL.ignored, ignored);
    builder.float(CROSS_ENTROPY_CALL.smoothing, smoothing);
    builder.output(CROSS_ENTROPY_CALL.loss, rowsView(1, 1), true);
    builder.output(CROSS_ENTROPY_CALL.gradient, rowsView(logits.count, logits.length), true);
  },
  work: ({ logits }) => 2 * POINTWISE_COST * logits.count * logits.length,
  // The loss is a sum over all rows.
  cut: () => ({ axes: [], memoryBound: MEMORY_BOUND }),
};

export interface ElementLossProblem {
  /** Each is one row. */
  readonly predictions: Rows;
  readonly targets: Rows;
  readonly kind: keyof typeof ELEMENT_LOSS;
}

/** The same. */
export const ELEMENT_LOSSES: Operation<ElementLossProblem> = {
  name: "loss",
  module: "training",
  call: ELEMENT_LOSS_CALL,
  pack({ predictions, targets, kind }, builder) {
    builder.integer(ELEMENT_LOSS_CALL.operation, OPERATION.elementLoss);
    builder.input(ELEMENT_LOSS_CALL.predictions, operandOf(predictions));
    builder.input(ELEMENT_LOSS_CALL.targets, operandOf(targets));
    builder.integer(ELEMENT_LOSS_CALL.kind, ELEMENT_LOSS[kind]);
    builder.output(ELEMENT_LOSS_CALL.loss, rowsView(1, 1), true);
    builder.output(ELEMENT_LOSS_CALL.gradient, rowsView(1, predictions.length), true);
  },
  work: ({ predictions }) => 2 * POINTWISE_COST * predictions.length,
  cut: () => ({ axes: [], memoryBound: MEMORY_BOUND }),
};
