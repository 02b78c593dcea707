// Clips gradients by their common norm.

import type { Program, Resident } from "../backends/backend.js";
import { guardAsync } from "../base/guard.js";
import { refusal } from "../base/read-values.js";
import type { Layer } from "../layers/layer.js";
import { COMBINE, SQUARE_SUM } from "../operations/training/combine.js";
import { vectorOf } from "../operations/training/vectors.js";
import { inProgram, inTurn } from "./in-program.js";
import { checkModel, isLearning, learnt } from "./variables.js";

/** As PyTorch adds it, so that the norm of zero gradients divides nothing by zero. */
const EPSILON = 1e-6;

/** Scales the gradients of a model so that their norm is at most `most`. Returns the norm before. */
export function clipNorm(model: Layer, most: number): Promise<number> {
  const where = "clipNorm";
  return guardAsync("option", `${where}: reading its arguments`, async () => {
    checkModel(where, model);
    if (typeof most !== "number" || !(most > 0)) {
      throw refusal(where, "the norm", "above 0", most);
    }
    return inTurn(model, () => inProgram(model, where, (program) => clip(program, model, most)));
  });
}

async function clip(program: Program, model: Layer, most: number): Promise<number> {
  const variables = learnt(model, program.root)
    .filter(isLearning)
    .map(({ variable }) => variable);
  const given = variables.flatMap((variable) =>
    variable.gradient === null ? [] : [{ variable, gradient: variable.gradient }],
  );
  const sums: Resident[] = [];
  for (const { gradient } of given) {
    for (const { resident } of await program.run(SQUARE_SUM, { rows: vectorOf(gradient) })) sums.push(resident);
  }
  let squares = 0;
  for (const sum of sums) squares += (await program.download(sum))[0] ?? 0;
  const norm = Math.sqrt(squares);
  const factor = most / (norm + EPSILON);
  if (!(factor < 1)) return norm;
  const scaled: Resident[] = [];
  for (const { gradient } of given) {
    const problem = { x: vectorOf(gradient), y: null, a: factor, b: 0 };
    for (const { resident } of await program.run(COMBINE, problem)) scaled.push(resident);
  }
  await program.flush();
  for (const [at, { variable }] of given.entries()) {
    const gradient = scaled[at];
    if (gradient !== undefined) variable.setGradient(program.keep(gradient));
  }
  return norm;
}
