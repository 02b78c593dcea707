// What queries and keys are called: lists of words that JSON may have beside its arrays.

import { FileTrouble, type NamedWords } from "./arrays.js";

export type Side = "q" | "k";
export type Words = Readonly<Partial<Record<Side, readonly string[]>>>;

/** Whose words a list has, by its name; the later ones go before. */
export const TOKEN_LISTS: ReadonlyMap<string, readonly Side[]> = new Map([
  ["tokens", ["q", "k"]],
  ["queryTokens", ["q"]],
  ["keyTokens", ["k"]],
]);

/** `tokens` name the queries, the keys or both: whichever are as many. Throws FileTrouble for a list that fits neither. */
export function wordsOf(lists: readonly NamedWords[], counts: Readonly<Record<Side, number>>): Words {
  const found: Partial<Record<Side, readonly string[]>> = {};
  for (const [name, sides] of TOKEN_LISTS) {
    const words = lists.find((list) => list.name === name)?.words;
    if (words === undefined) continue;
    const fitting = sides.filter((side) => counts[side] === words.length);
    if (fitting.length === 0) {
      const there = sides.map((side) => `${counts[side]} ${side === "q" ? "queries" : "keys"}`).join(" and ");
      throw new FileTrouble(`“${name}” has ${words.length} words for ${there}.`);
    }
    for (const side of fitting) found[side] = words;
  }
  return found;
}

/** "k3", or with its word: "k3 fox". `before`: what stands before the number. */
export function nameOf(
  { words }: { readonly words?: Words | undefined },
  side: Side,
  index: number,
  before: string = side,
): string {
  const word = words?.[side]?.[index];
  return word === undefined ? `${before}${index + 1}` : `${before}${index + 1} ${word}`;
}
