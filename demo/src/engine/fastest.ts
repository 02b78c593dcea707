// Calls timed on this device, in turns; can be stopped between calls and within.

import { normal } from "../model/random.js";
import type { Tensor } from "./engine.js";

/** Random numbers to be timed with; the same each time. */
export function randoms(spread = 1): (...shape: readonly number[]) => Tensor {
  const next = normal(1);
  return (...shape) => {
    const length = shape.reduce((count, size) => count * size, 1);
    return { data: Float32Array.from({ length }, () => next() * spread), shape };
  };
}

/** The best of a few rounds each, in milliseconds: what else the device does then hits all alike. */
export async function fastest<Name>(
  calls: readonly (readonly [Name, () => Promise<unknown>])[],
  rounds: number,
  progress: (said: string, best: ReadonlyMap<Name, number>) => void,
): Promise<ReadonlyMap<Name, number>> {
  const best = new Map<Name, number>();
  for (let round = 0; round < rounds; round++) {
    for (const [index, [name, call]] of calls.entries()) {
      progress(`Call ${round * calls.length + index + 1} of ${rounds * calls.length}.`, best);
      const start = performance.now();
      await call();
      best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, performance.now() - start));
    }
  }
  return best;
}
