// Passes of layers under way on each engine. An engine computes them in the full module, or in that of training, and returns to the core module, whose
// memory is new and small, when disposing of a layer has left most of that memory free.

import type { ModuleName, Program, RootBackend } from "../backends/backend.js";
import { unlessAborted } from "../base/unless-aborted.js";
import { collectSoon } from "./collect-soon.js";

interface Passes {
  count: number;
  /** Whether a layer was disposed of since the last pass began. Only then is the memory given back, because loading it again takes long. */
  releases: boolean;
}

const ALL = new WeakMap<RootBackend, Passes>();

/** Tensors and pages that take no more than this share of the memory are moved. */
const MOSTLY_FREE = 1 / 8;

/** Begins the program of a pass. What it needs stays loaded until `endPass`. */
export async function beginPass(root: RootBackend, signal: AbortSignal | null, module: ModuleName): Promise<Program> {
  const passes = ALL.get(root) ?? { count: 0, releases: false };
  ALL.set(root, passes);
  passes.count += 1;
  passes.releases = false;
  const opening = root.program(signal, module);
  try {
    return await unlessAborted("heed/layers", signal, () => opening);
  } catch (error) {
    // A program that opens after all ends at once.
    const closing = opening.then((program) => program.close());
    closing.catch(() => {}).finally(() => endPass(root));
    throw error;
  }
}

export function endPass(root: RootBackend): void {
  const passes = ALL.get(root);
  if (passes === undefined) return;
  passes.count -= 1;
  settle(root, passes);
}

/** Gives the module and its memory back once no pass needs them: a layer was disposed of. */
export function releaseModule(root: RootBackend): void {
  const passes = ALL.get(root);
  if (passes === undefined) return;
  passes.releases = true;
  settle(root, passes);
}

function settle(root: RootBackend, passes: Passes): void {
  const { engine, tensorBytes } = root.memory();
  if (!passes.releases || passes.count > 0 || tensorBytes > engine * MOSTLY_FREE) return;
  passes.releases = false;
  root.use("core").then(
    () => collectSoon(engine),
    // An engine that cannot move stays where it is.
    () => {},
  );
}
