// The causal language model that heed trained and this site brings, for one's own sentence. Loaded when it comes into view.

import { Inside, type LayerReading, loadParameters } from "../../src/language/inside.js";
import { type Candidate, candidates, idOf, KNOWN, LONGEST, moreWords, tooLong } from "../../src/language/words.js";
import { cutIntoWords } from "../../src/model/tokens.js";

export { KNOWN };

const LIKELIEST = 3;
const LEAST = 0.01;

export interface Reading {
  /** As they are shown: the last may stand for those that do not fit. */
  readonly words: readonly string[];
  /** Where those stand that it reads. */
  readonly places: readonly number[];
  readonly layers: readonly LayerReading[];
  /** What it goes on with, the likeliest first; the first one however unlikely. */
  readonly next: readonly Candidate[];
  /** Words that it does not know, and skips. */
  readonly unknown: readonly string[];
  /** What it says of a text that it does not read to its end. */
  readonly tooLong: string;
}

export async function openLanguage(): Promise<(text: string) => Promise<Reading>> {
  const inside = new Inside("causal", await loadParameters("causal"));
  return async (text) => {
    const { words: read, leftOut } = cutIntoWords(text, LONGEST);
    const places = Array.from(read.keys()).filter((at) => idOf(read[at] ?? "") >= 0);
    const words = [...read, ...moreWords(leftOut)];
    const unknown = read.filter((word) => idOf(word) < 0);
    const found = { words, places, unknown, tooLong: tooLong(text, leftOut) };
    if (places.length === 0) return { ...found, layers: [], next: [] };
    const ids = places.map((place) => idOf(words[place] ?? ""));
    const { layers, lens } = await inside.read(ids, ids.length - 1);
    const next = candidates(lens.at(-1) ?? [])
      .slice(0, LIKELIEST)
      .filter(({ probability }, index) => index === 0 || probability >= LEAST);
    return { ...found, layers, next };
  };
}
