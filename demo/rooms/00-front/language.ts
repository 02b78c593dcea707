// The causal language model that heed trained and this site brings, for one's own sentence. Loaded when it comes into view.

import { Inside, type LayerReading, loadParameters } from "../../src/language/inside.js";
import { type Candidate, candidates, idOf, KNOWN, readable } from "../../src/language/words.js";

const LIKELIEST = 3;
const LEAST_SHARE = 0.01;

export interface Reading {
  /** By layer and head, for each word that it read the weights of all of them. */
  readonly weights: readonly LayerReading["weights"][];
  /** What it goes on with, the likeliest first; the first one however unlikely. */
  readonly next: readonly Candidate[];
}

export interface Language {
  readonly words: readonly string[];
  readonly reads: typeof readable;
  readonly read: (words: readonly string[]) => Promise<Reading>;
}

export async function openLanguage(): Promise<Language> {
  const inside = new Inside("causal", await loadParameters("causal"));
  return {
    words: KNOWN,
    reads: readable,
    read: async (words) => {
      const { layers, lens } = await inside.read(words.map(idOf), words.length - 1);
      const next = candidates(lens.at(-1) ?? [])
        .slice(0, LIKELIEST)
        .filter(({ share }, index) => index === 0 || share >= LEAST_SHARE);
      return { weights: layers.map(({ weights }) => weights), next };
    },
  };
}
