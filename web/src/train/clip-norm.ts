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
    return (await clipped(where, model, most)).norm;
  });
}

/** The norms of the gradients before they are clipped: of all of them, and by the paths of layers. */
export interface Norms {
  readonly norm: number;
  readonly layers: ReadonlyMap<string, number>;
}

/** @internal Clips, and gives the norms before. */
export function clipped(where: string, model: Layer, most: number): Promise<Norms> {
  return inTurn(model, () => inProgram(model, where, (program) => clip(program, model, most)));
}

async function clip(program: Program, model: Layer, most: number): Promise<Norms> {
  const given = learnt(model, program.root)
    .filter(isLearning)
    .flatMap(({ variable, parameters }) => {
      const [name = ""] = parameters.keys();
      const { gradient } = variable;
      return gradient === null ? [] : [{ variable, gradient, path: name.replace(/\.?[^.]*$/, "") }];
    });
  const sums: Resident[][] = [];
  for (const { gradient } of given) {
    const made = await program.run(SQUARE_SUM, { rows: vectorOf(gradient) });
    sums.push(made.map(({ resident }) => resident));
  }
  // All at once: each alone would be a message to a worker that has them.
  await program.bring(sums.flat());
  let squares = 0;
  const layers = new Map<string, number>();
  for (const [at, { path }] of given.entries()) {
    for (const sum of sums[at] ?? []) {
      const [own = 0] = await program.download(sum);
      squares += own;
      layers.set(path, Math.hypot(layers.get(path) ?? 0, Math.sqrt(own)));
    }
  }
  const norm = Math.sqrt(squares);
  const factor = most / (norm + EPSILON);
  if (!(factor < 1)) return { norm, layers };
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
  return { norm, layers };
}
