// activation(x + bias) * factor + addend, elementwise.

import type { CallBuilder, Operation } from "../backends/backend.js";
import { ACTIVATION, OPERATION, POINTWISE_CALL } from "../backends/wasm/generated/layer-call.js";
import { operandIf, operandOf, POINTWISE_COST, type Rows, rowsView } from "./rows.js";

export type Activation = "none" | "relu" | "gelu" | "gelu-tanh" | "silu" | "tanh" | "sigmoid";

/** A null one is left out, and one with fewer rows repeats them. */
export interface PointwiseRule {
  readonly activation: Activation;
  readonly bias: Rows | null;
  readonly factor: Rows | null;
  readonly addend: Rows | null;
}

export interface PointwiseProblem {
  readonly input: Rows;
  readonly rule: PointwiseRule;
}

export const POINTWISE: Operation<PointwiseProblem> = {
  name: "pointwise",
  words: POINTWISE_CALL.words,
  pack({ input, rule }, builder) {
    builder.integer(POINTWISE_CALL.operation, OPERATION.pointwise);
    builder.input(POINTWISE_CALL.input, operandOf(input));
    packRule(builder, POINTWISE_CALL, rule);
    builder.output(POINTWISE_CALL.output, rowsView(input.count, input.length), true);
  },
  work: ({ input }) => POINTWISE_COST * input.count * input.length,
};

interface RuleWords {
  readonly bias: number;
  readonly factor: number;
  readonly addend: number;
  readonly activation: number;
}

export function packRule(
  builder: CallBuilder,
  words: RuleWords,
  { activation, bias, factor, addend }: PointwiseRule,
): void {
  builder.input(words.bias, operandIf(bias));
  builder.input(words.factor, operandIf(factor));
  builder.input(words.addend, operandIf(addend));
  builder.integer(words.activation, ACTIVATION[activation]);
}
