// Elementwise functions of up to three tensors, and dropout.

import type { Operation, Resident } from "../../backends/backend.js";
import type { Cut } from "../../backends/cut.js";
import {
  DROPOUT_CALL,
  ELEMENTWISE_CALL,
  ELEMENTWISE as FUNCTION,
  OPERATION,
  PANEL,
} from "../../backends/wasm/generated/operation-calls.js";
import { COLUMNS, MEMORY_BOUND, operandOf, POINTWISE_COST, rowsView } from "../rows.js";
import { vectorOf } from "./vectors.js";

/** Functions of three, of two and of one number. `select` gives its second where its first is not 0, else its third. */
export type ElementwiseFunction = keyof typeof FUNCTION;

export interface ElementwiseProblem {
  readonly function: ElementwiseFunction;
  /** One that is shorter than the result repeats. */
  readonly operands: readonly Resident[];
  readonly length: number;
}

const WORDS = [ELEMENTWISE_CALL.x, ELEMENTWISE_CALL.y, ELEMENTWISE_CALL.z];

export const ELEMENTWISE: Operation<ElementwiseProblem> = {
  name: "elementwise",
  module: "training",
  call: ELEMENTWISE_CALL,
  pack({ function: name, operands, length }, builder) {
    builder.integer(ELEMENTWISE_CALL.operation, OPERATION.elementwise);
    builder.integer(ELEMENTWISE_CALL.function, FUNCTION[name]);
    for (const [at, operand] of operands.entries()) builder.input(WORDS[at] ?? 0, operandOf(vectorOf(operand)));
    builder.output(ELEMENTWISE_CALL.output, rowsView(1, length), true);
  },
  work: ({ length }) => POINTWISE_COST * length,
  cut({ operands, length }) {
    const whole = WORDS.filter((_, at) => operands[at]?.elements === length);
    return byPlace(length, [...whole, ELEMENTWISE_CALL.output], ELEMENTWISE_CALL.first);
  },
};

export interface DropoutProblem {
  readonly x: Resident;
  /** In (0, 1]. */
  readonly p: number;
  /** A whole number of 32 bits. */
  readonly seed: number;
}

export const DROPOUT: Operation<DropoutProblem> = {
  name: "dropout",
  module: "training",
  call: DROPOUT_CALL,
  pack({ x, p, seed }, builder) {
    builder.integer(DROPOUT_CALL.operation, OPERATION.dropout);
    builder.input(DROPOUT_CALL.x, operandOf(vectorOf(x)));
    builder.integer(DROPOUT_CALL.limit, Math.floor(p * 2 ** 32) - 1);
    builder.float(DROPOUT_CALL.factor, p < 1 ? 1 / (1 - p) : 0);
    builder.integer(DROPOUT_CALL.seed, seed);
    builder.output(DROPOUT_CALL.output, rowsView(1, x.elements), true);
  },
  work: ({ x }) => POINTWISE_COST * x.elements,
  cut: ({ x }) => byPlace(x.elements, [DROPOUT_CALL.x, DROPOUT_CALL.output], DROPOUT_CALL.first),
};

/** A cut of long vectors, where `first` tells the place of a slice. */
export function byPlace(length: number, words: readonly number[], first: number): Cut {
  const views = words.map((word) => [word, COLUMNS, PANEL] as const);
  return {
    axes: [{ count: Math.ceil(length / PANEL), views, starts: [[first, PANEL]] }],
    memoryBound: MEMORY_BOUND,
  };
}
