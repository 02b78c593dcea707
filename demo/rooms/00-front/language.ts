// The tiny causal model that heed trained and this site brings, for one's own sentence. Loaded when one begins a sentence.

import { Inside, loadParameters } from "../../src/language/inside.js";
import { saidOf } from "../../src/language/said.js";
import { candidates, idOf, KNOWN, LONGEST } from "../../src/language/words.js";
import type { Reading } from "./reading.js";

export { KNOWN };

const LIKELIEST = 3;
const LEAST = 0.01;
/** Unknown words that are named. */
const MOST_NAMED = 6;

/** Why it does not read a sentence; empty: it does. */
export function whyNot(words: readonly string[]): string {
  const unknown = [...new Set(words.filter((word) => idOf(word) < 0))];
  const more = unknown.splice(MOST_NAMED).length;
  if (words.length === 0) return "Type a sentence.";
  if (unknown.length > 0) {
    const names = unknown.map((word) => `“${word}”`).join(", ");
    return `The tiny model does not know ${names}${more === 0 ? "" : ` and ${more} more`}.`;
  }
  return words.length <= LONGEST ? "" : `The tiny model reads ${LONGEST} words at a time; these are ${words.length}.`;
}

export const unknownIn = (words: readonly string[]): readonly number[] =>
  words.flatMap((word, index) => (idOf(word) < 0 ? [index + 1] : []));

export async function openLanguage(): Promise<(words: readonly string[]) => Promise<Reading>> {
  const inside = new Inside("causal", await loadParameters("causal"));
  return async (words) => {
    const { layers, lens } = await inside.read(words.map(idOf), words.length - 1);
    const next = candidates(lens.at(-1) ?? [])
      .slice(0, LIKELIEST)
      .filter(({ probability }, index) => index === 0 || probability >= LEAST);
    const places = words.length + 1;
    return {
      by: "the tiny model",
      words,
      layers: layers.map(({ weights }) => {
        // It has no start mark, to which nothing is given.
        const rows = weights.flatMap((head) => [Array<number>(places).fill(0), ...head.map((row) => [0, ...row])]);
        const data = rows.flatMap((row) => Array.from({ length: places }, (_, key) => row[key] ?? 0));
        return { data, shape: [weights.length, places, places] };
      }),
      also: ["It goes on with ", ...saidOf(next), "."],
    };
  };
}
