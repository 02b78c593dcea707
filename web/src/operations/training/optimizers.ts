// Steps of optimizers. What a step replaces is an input, what replaces it a result.

import type { Operation } from "../../backends/backend.js";
import { ADAM_CALL, OPERATION, SGD_CALL } from "../../backends/wasm/generated/operation-calls.js";
import { operandIf, operandOf, type Rows, rowsView } from "../rows.js";
import { byPart } from "./vectors.js";

/** Each is one row. */
export interface AdamProblem {
  readonly parameters: Rows;
  readonly gradients: Rows;
  readonly means: Rows;
  readonly squares: Rows;
  readonly rule: {
    readonly learningRate: number;
    readonly beta1: number;
    readonly beta2: number;
    readonly epsilon: number;
    readonly weightDecay: number;
    /** 1 - beta, which f32 would not hold exactly. */
    readonly rest1: number;
    readonly rest2: number;
    /** 1 - beta ^ step. */
    readonly correction1: number;
    readonly correction2: number;
    /** AdamW. */
    readonly isDecoupled: boolean;
  };
}

const ADAM_INPUTS = ["parameters", "gradients", "means", "squares"] as const;
const ADAM_OUTPUTS = ["nextParameters", "nextMeans", "nextSquares"] as const;
const ADAM_FLOATS = [
  "learningRate",
  "beta1",
  "beta2",
  "rest1",
  "rest2",
  "epsilon",
  "weightDecay",
  "correction1",
  "correction2",
] as const;

export const ADAM: Operation<AdamProblem> = {
  name: "adam",
  module: "training",
  call: ADAM_CALL,
  pack({ rule, ...inputs }, builder) {
    builder.integer(ADAM_CALL.operation, OPERATION.adam);
    for (const name of ADAM_INPUTS) builder.input(ADAM_CALL[name], operandOf(inputs[name]));
    for (const name of ADAM_FLOATS) builder.float(ADAM_CALL[name], rule[name]);
    builder.integer(ADAM_CALL.isDecoupled, rule.isDecoupled);
    for (const name of ADAM_OUTPUTS) builder.output(ADAM_CALL[name], rowsView(1, inputs.parameters.length), true);
  },
  work: ({ parameters }) => 4 * parameters.length,
  cut: ({ parameters }) =>
    byPart(
      parameters.length,
      [...ADAM_INPUTS, ...ADAM_OUTPUTS].map((name) => ADAM_CALL[name]),
    ),
};

export interface SgdProblem {
  readonly parameters: Rows;
  readonly gradients: Rows;
  /** Null at the first step. */
  readonly velocities: Rows | null;
  readonly rule: {
    readonly learningRate: number;
    readonly momentum: number;
    readonly weightDecay: number;
    readonly isNesterov: boolean;
  };
}

/** Its results are the parameters and, with momentum, the velocities. */
export const SGD: Operation<SgdProblem> = {
  name: "sgd",
  module: "training",
  call: SGD_CALL,
  pack({ parameters, gradients, velocities, rule }, builder) {
    builder.integer(SGD_CALL.operation, OPERATION.sgd);
    builder.input(SGD_CALL.parameters, operandOf(parameters));
    builder.input(SGD_CALL.gradients, operandOf(gradients));
    builder.input(SGD_CALL.velocities, operandIf(velocities));
    for (const name of ["learningRate", "momentum", "weightDecay"] as const) builder.float(SGD_CALL[name], rule[name]);
    builder.integer(SGD_CALL.isNesterov, rule.isNesterov);
    builder.output(SGD_CALL.nextParameters, rowsView(1, parameters.length), true);
    if (rule.momentum > 0) builder.output(SGD_CALL.nextVelocities, rowsView(1, parameters.length), true);
  },
  work: ({ parameters }) => 2 * parameters.length,
  cut: ({ parameters, velocities, rule }) => {
    const { nextVelocities, nextParameters, ...inputs } = SGD_CALL;
    const words: number[] = [inputs.parameters, inputs.gradients, nextParameters];
    if (velocities !== null) words.push(inputs.velocities);
    if (rule.momentum > 0) words.push(nextVelocities);
    return byPart(parameters.length, words);
  },
};
