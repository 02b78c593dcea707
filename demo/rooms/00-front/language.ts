// The causal language model that heed trained and this site brings, for one's own sentence. Loaded when it comes into view.

import { Inside, type LayerReading, loadParameters } from "../../src/language/inside.js";
import { type Candidate, candidates, idOf, KNOWN, readable } from "../../src/language/words.js";

export { KNOWN };

const LIKELIEST = 3;
const LEAST = 0.01;

export interface Reading {
  readonly words: readonly string[];
  /** Where those stand that it reads. */
  readonly places: readonly number[];
  readonly layers: readonly LayerReading[];
  /** What it goes on with, the likeliest first; the first one however unlikely. */
  readonly next: readonly Candidate[];
}

export async function openLanguage(): Promise<(words: readonly string[]) => Promise<Reading>> {
  const inside = new Inside("causal", await loadParameters("causal"));
  return async (words) => {
    const places = readable(words);
    if (places.length === 0) return { words, places, layers: [], next: [] };
    const ids = places.map((place) => idOf(words[place] ?? ""));
    const { layers, lens } = await inside.read(ids, ids.length - 1);
    const next = candidates(lens.at(-1) ?? [])
      .slice(0, LIKELIEST)
      .filter(({ probability }, index) => index === 0 || probability >= LEAST);
    return { words, places, layers, next };
  };
}
