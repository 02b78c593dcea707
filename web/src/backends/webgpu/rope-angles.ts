// The cosines and sines of rope for each position and pair, computed in double precision and rounded once.

import type { RopeProblem } from "../../operations/rope.js";

export interface RopeAngles {
  readonly cosines: Float32Array<ArrayBuffer>;
  readonly sines: Float32Array<ArrayBuffer>;
}

/** Remembers the angles of the last call: queries, keys and all layers of a model share them, and sines take time. */
export class RopeAngleCache {
  #last: { readonly key: readonly (ArrayLike<number> | null)[]; readonly angles: RopeAngles } | null = null;

  /** Null if the problem brings tables of its own. */
  of({ input, tables, frequencies, positions, magnitude }: RopeProblem): RopeAngles | null {
    if (tables !== null) return null;
    const used = positions ?? Float64Array.from({ length: input.shape[2] }, (_, position) => position);
    const key = [frequencies, used, [magnitude]];
    if (this.#last === null || !key.every((part, at) => isSame(part, this.#last?.key[at] ?? null))) {
      this.#last = { key, angles: ropeAngles(frequencies ?? new Float64Array(0), used, magnitude) };
    }
    return this.#last.angles;
  }
}

function isSame(a: ArrayLike<number> | null, b: ArrayLike<number> | null): boolean {
  if (a === null || b === null || a.length !== b.length) return a === b;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

function ropeAngles(frequencies: Float64Array, positions: Float64Array, magnitude: number): RopeAngles {
  const pairs = frequencies.length;
  const cosines = new Float32Array(positions.length * pairs);
  const sines = new Float32Array(positions.length * pairs);
  for (const [row, position] of positions.entries()) {
    for (const [pair, frequency] of frequencies.entries()) {
      cosines[row * pairs + pair] = magnitude * Math.cos(position * frequency);
      sines[row * pairs + pair] = magnitude * Math.sin(position * frequency);
    }
  }
  return { cosines, sines };
}
