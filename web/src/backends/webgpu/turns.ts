// Cosines and sines of every place and pair, in double precision, rounded once.

import type { RopeProblem } from "../extra-backend.js";

export interface Turns {
  readonly cosines: Float32Array<ArrayBuffer>;
  readonly sines: Float32Array<ArrayBuffer>;
}

/** Remembers those that it made last: queries, keys and the layers of a model are turned alike, and sines take their time. */
export class TurnMaker {
  #last: { readonly key: readonly (ArrayLike<number> | null)[]; readonly turns: Turns } | null = null;

  /** Null: the problem brings tables of its own. */
  of({ input, tables, frequencies, positions, magnitude }: RopeProblem): Turns | null {
    if (tables !== null) return null;
    const places = positions ?? Float64Array.from({ length: input.shape[2] }, (_, place) => place);
    const key = [frequencies, places, [magnitude]];
    if (this.#last === null || !key.every((part, at) => isSame(part, this.#last?.key[at] ?? null))) {
      this.#last = { key, turns: turnsOf(frequencies ?? new Float64Array(0), places, magnitude) };
    }
    return this.#last.turns;
  }
}

function isSame(a: ArrayLike<number> | null, b: ArrayLike<number> | null): boolean {
  if (a === null || b === null || a.length !== b.length) return a === b;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

function turnsOf(frequencies: Float64Array, places: Float64Array, magnitude: number): Turns {
  const pairs = frequencies.length;
  const cosines = new Float32Array(places.length * pairs);
  const sines = new Float32Array(places.length * pairs);
  for (const [place, position] of places.entries()) {
    for (const [pair, frequency] of frequencies.entries()) {
      cosines[place * pairs + pair] = magnitude * Math.cos(position * frequency);
      sines[place * pairs + pair] = magnitude * Math.sin(position * frequency);
    }
  }
  return { cosines, sines };
}
