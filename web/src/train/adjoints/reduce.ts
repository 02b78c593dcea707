// Of sums of rows, of the largest numbers of columns, and of softmax.

import { ELEMENTWISE } from "../../operations/training/elementwise.js";
import { MOVE } from "../../operations/training/move.js";
import { ROW_SUMS, type RowSumsProblem } from "../../operations/training/row-sums.js";
import { SOFTMAX, type SoftmaxProblem } from "../../operations/training/softmax.js";
import { rowsOf } from "../../operations/training/vectors.js";
import type { Adjoint } from "../backward-step.js";

export const rowSums: Adjoint<RowSumsProblem> = async (step) => {
  const { rows, isMaximum } = step.problem;
  const { resident: x, count, length } = rows;
  if (!isMaximum) {
    const move = { kind: "repeat", shape: [1, length], to: [count, length] } as const;
    return step.give(x, await step.one(MOVE, { input: step.gradient, move }));
  }
  const [made] = step.made;
  if (made === undefined) throw new TypeError("a call of one result had none");
  const are = await step.one(ELEMENTWISE, { function: "equal", operands: [x, made], length: x.elements });
  const ties = await step.one(ROW_SUMS, { rows: rowsOf(are, length), addend: null });
  const share = await step.one(ELEMENTWISE, { function: "div", operands: [step.gradient, ties], length });
  const given = await step.one(ELEMENTWISE, { function: "mul", operands: [are, share], length: x.elements });
  for (const used of [are, ties, share]) step.free(used);
  await step.give(x, given);
};

export const softmax: Adjoint<SoftmaxProblem> = async (step) => {
  const { rows } = step.problem;
  const [made] = step.made;
  if (made === undefined) throw new TypeError("a call of one result had none");
  const problem = { rows: rowsOf(made, rows.length), gradient: rowsOf(step.gradient, rows.length) };
  await step.give(rows.resident, await step.one(SOFTMAX, problem));
};
