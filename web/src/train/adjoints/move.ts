// Of numbers in another order: back to where they came from. What repeats has the sum, what was cut away zeros.

import { product } from "../../api/operands.js";
import { type JoinProblem, MOVE, type Move, type MoveProblem } from "../../operations/training/move.js";
import type { Adjoint } from "../backward-step.js";
import { summed } from "../sums.js";

export const move: Adjoint<MoveProblem> = async (step) => {
  const { input, move: given } = step.problem;
  if (given.kind !== "repeat") return step.give(input, await step.one(MOVE, moved(step.gradient, backOf(given))));
  const { shape, to } = given;
  const repeated = [...to.keys()].filter((axis) => shape[axis] !== to[axis]);
  const order = [...repeated, ...[...to.keys()].filter((axis) => shape[axis] === to[axis])];
  // The axes that repeat come first, so that what is to be added up lies in rows.
  const rows = await step.one(MOVE, moved(step.gradient, { kind: "turn", shape: to, order }));
  await step.give(input, await summed(step, rows, product(shape)));
  step.free(rows);
};

const moved = (input: MoveProblem["input"], way: Move): MoveProblem => ({ input, move: way });

function backOf(given: Exclude<Move, { readonly kind: "repeat" }>): Move {
  if (given.kind === "turn") {
    const { shape, order } = given;
    return {
      kind: "turn",
      shape: order.map((axis) => shape[axis] ?? 1),
      order: [...order.keys()].map((axis) => order.indexOf(axis)),
    };
  }
  const { shape, axis, from, to } = given;
  const cut = shape.map((size, one) => (one === axis ? to - from : size));
  return { kind: "cut", shape: cut, axis, from: -from, to: (shape[axis] ?? 0) - from };
}

export const join: Adjoint<JoinProblem> = async (step) => {
  const { inputs, rows } = step.problem;
  const all = step.gradient.elements / rows;
  let from = 0;
  for (const input of inputs) {
    const to = from + input.elements / rows;
    if (step.needs(input)) {
      const part: Move = { kind: "cut", shape: [rows, all], axis: 1, from, to };
      await step.give(input, await step.one(MOVE, moved(step.gradient, part)));
    }
    from = to;
  }
};
