// Runs calls on the engine of a model, as one program, and changes of a model one after another.

import type { Program } from "../backends/backend.js";
import { guardAsync } from "../base/guard.js";
import { Layer } from "../layers/layer.js";
import { endPass } from "../layers/passes.js";

const LAST = new WeakMap<Layer, Promise<unknown>>();

/** Runs what changes the gradients of a model one after another. */
export function inTurn<R>(model: Layer, act: () => Promise<R>): Promise<R> {
  const turn = (LAST.get(model) ?? Promise.resolve()).then(act);
  LAST.set(
    model,
    turn.catch(() => {}),
  );
  return turn;
}

export async function inProgram<R>(model: Layer, where: string, act: (program: Program) => Promise<R>): Promise<R> {
  const { program } = await Layer.engineOf(model).begin(null, Layer.moduleOf(model, "training"));
  try {
    return await guardAsync("memory", `${where}: computing`, () => act(program));
  } finally {
    await program.close();
    endPass(program.root);
  }
}
