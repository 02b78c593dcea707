// Numbers in another order: axes turned, repeated, cut and padded; and tensors side by side.

import type { Operation, Resident } from "../../backends/backend.js";
import { JOIN_CALL, MOVE_CALL, OPERATION } from "../../backends/wasm/generated/operation-calls.js";
import { byRow, MEMORY_BOUND, operandOf, rowsView } from "../rows.js";
import { byPlace } from "./elementwise.js";
import { rowsOf, vectorOf } from "./vectors.js";

/** What becomes of a tensor of a shape. */
export type Move =
  /** Axis i of the result is axis order[i]. */
  | { readonly kind: "turn"; readonly shape: readonly number[]; readonly order: readonly number[] }
  /** Axes of size 1 repeat. */
  | { readonly kind: "repeat"; readonly shape: readonly number[]; readonly to: readonly number[] }
  /** Indices of an axis, of which those outside of it are zeros. */
  | {
      readonly kind: "cut";
      readonly shape: readonly number[];
      readonly axis: number;
      readonly from: number;
      readonly to: number;
    };

export interface MoveProblem {
  readonly input: Resident;
  readonly move: Move;
}

/** An axis of the result: its size, the step in the input, and which of its indices lead to numbers. */
interface Axis {
  readonly size: number;
  readonly step: number;
  readonly begin: number;
  readonly end: number;
}

/** The most axes that C++ takes, when those that lie together in both tensors are one. */
export const MOST_MOVED = 8;

export const MOVE: Operation<MoveProblem> = {
  name: "move",
  module: "training",
  call: MOVE_CALL,
  pack({ input, move }, builder) {
    const axes = axesOf(move);
    builder.integer(MOVE_CALL.operation, OPERATION.move);
    builder.input(MOVE_CALL.input, operandOf(vectorOf(input)));
    builder.numbers(
      MOVE_CALL.axes,
      Int32Array.from(axes.flatMap(({ size, step, begin, end }) => [size, step, begin, end])),
    );
    builder.integer(MOVE_CALL.axisCount, axes.length);
    builder.integer(MOVE_CALL.start, move.kind === "cut" ? move.from * stepOf(move.shape, move.axis) : 0);
    builder.output(MOVE_CALL.output, rowsView(1, product(movedShape(move))), true);
  },
  work: ({ move }) => product(movedShape(move)),
  cut: ({ move }) => byPlace(product(movedShape(move)), [MOVE_CALL.output], MOVE_CALL.first),
};

export function movedShape(move: Move): readonly number[] {
  if (move.kind === "turn") return move.order.map((axis) => move.shape[axis] ?? 1);
  if (move.kind === "repeat") return move.to;
  return move.shape.map((size, axis) => (axis === move.axis ? move.to - move.from : size));
}

/** The axes of the result, those that lie together in both tensors as one. */
export function axesOf(move: Move): readonly Axis[] {
  const all = movedShape(move).map((size, axis): Axis => {
    const from = move.kind === "turn" ? (move.order[axis] ?? 0) : axis;
    const isRepeated = move.kind === "repeat" && move.shape[axis] === 1;
    const step = isRepeated ? 0 : stepOf(move.shape, from);
    if (move.kind !== "cut" || axis !== move.axis) return { size, step, begin: 0, end: size };
    return { size, step, begin: Math.max(0, -move.from), end: Math.min(size, (move.shape[axis] ?? 0) - move.from) };
  });
  const merged: Axis[] = [];
  for (const axis of all) {
    const outer = merged.at(-1);
    if (axis.size === 1 && isWhole(axis)) continue;
    const isOne = outer && isWhole(outer) && isWhole(axis) && outer.step === axis.step * axis.size;
    if (!isOne) merged.push(axis);
    else merged[merged.length - 1] = { ...axis, size: outer.size * axis.size, end: outer.size * axis.size };
  }
  return merged.length === 0 ? [{ size: 1, step: 0, begin: 0, end: 1 }] : merged;
}

const product = (sizes: readonly number[]): number => sizes.reduce((total, size) => total * size, 1);

const isWhole = ({ size, begin, end }: Axis): boolean => begin === 0 && end === size;

const stepOf = (shape: readonly number[], axis: number): number => product(shape.slice(axis + 1));

export interface JoinProblem {
  /** Up to four, each of as many rows. */
  readonly inputs: readonly Resident[];
  readonly rows: number;
}

const WORDS = [JOIN_CALL.a, JOIN_CALL.b, JOIN_CALL.c, JOIN_CALL.d];

export const MOST_JOINED = WORDS.length;

/** Each row of its result has those of the inputs one behind the other. */
export const JOIN: Operation<JoinProblem> = {
  name: "join",
  module: "training",
  call: JOIN_CALL,
  pack({ inputs, rows }, builder) {
    builder.integer(JOIN_CALL.operation, OPERATION.join);
    for (const [at, input] of inputs.entries()) {
      builder.input(WORDS[at] ?? 0, operandOf(rowsOf(input, input.elements / rows)));
    }
    builder.output(JOIN_CALL.output, rowsView(rows, elementsOf(inputs) / rows), true);
  },
  work: ({ inputs }) => elementsOf(inputs),
  cut: ({ inputs, rows }) => ({
    axes: [byRow(rows, [...WORDS.slice(0, inputs.length), JOIN_CALL.output])],
    memoryBound: MEMORY_BOUND,
  }),
};

const elementsOf = (inputs: readonly Resident[]): number => inputs.reduce((sum, { elements }) => sum + elements, 0);
