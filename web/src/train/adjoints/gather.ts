// Of rows of a table: they are added to those that they came from.

import type { GatherProblem } from "../../operations/gather.js";
import { SCATTER_ADD } from "../../operations/training/scatter-add.js";
import { rowsOf } from "../../operations/training/vectors.js";
import type { Adjoint } from "../backward-step.js";

export const gather: Adjoint<GatherProblem> = async (step) => {
  const { table, indices } = step.problem;
  const rows = rowsOf(step.gradient, table.length);
  await step.add(table.resident, (sum) => {
    return step.one(SCATTER_ADD, { rows, indices, count: table.count, addend: sum && rowsOf(sum, table.length) });
  });
};
