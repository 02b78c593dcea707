// Runs calls on the engine of a model, as one program.

import { guardAsync } from "../api/guard.js";
import type { Program } from "../backends/backend.js";
import { Layer } from "../layers/layer.js";
import { endPass } from "../layers/passes.js";

export async function inProgram<R>(model: Layer, where: string, act: (program: Program) => Promise<R>): Promise<R> {
  const { program } = await Layer.engineOf(model).begin(null, "training");
  try {
    return await guardAsync("memory", `${where}: computing`, () => act(program));
  } finally {
    await program.close();
    endPass(program.root);
  }
}
