// Tokens as words that can be read: as they stand in the text, not as a vocabulary spells them.

import type { Encoding, Tokenizer } from "heed/layers";

const LONGEST = 24;

/** What would not be seen, made visible. */
const SIGNS: Readonly<Record<string, string>> = { " ": "␣", "\n": "↵", "\r": "↵", "\t": "⇥" };

/** The text of each token; tokens that are bytes of one character are told apart by their number; those that were added by their names. */
export function wordsOf(text: string, { tokens, offsets }: Pick<Encoding, "tokens" | "offsets">): readonly string[] {
  const placeOf = (index: number): string => (offsets[index] ?? []).join();
  return tokens.map((token, index) => {
    const [start, end] = offsets[index] ?? [0, 0];
    if (start === end) return readable(token);
    const isOf = (other: number): boolean => placeOf(other) === placeOf(index);
    let first = index;
    while (isOf(first - 1)) first -= 1;
    const word = readable(text.slice(start, end));
    return first === index && !isOf(index + 1) ? word : `${word}·${index - first + 1}`;
  });
}

/** Of a token that stands in no text. */
export function wordOf(tokenizer: Pick<Tokenizer, "tokenOf" | "decode">, id: number): string {
  const token = tokenizer.tokenOf(id) ?? `#${id}`;
  if (token.startsWith("\u2581")) return readable(token.replaceAll("\u2581", " "));
  const text = tokenizer.decode([id], { skipSpecialTokens: false });
  // Bytes that are no character by themselves.
  return text === "" || text.includes("\ufffd") ? token : readable(text);
}

export function readable(text: string): string {
  const word = text.trim() === "" ? text : text.replace(/^ /, "");
  const visible = Array.from(word, (character) => SIGNS[character] ?? named(character));
  const all = /^\p{M}/u.test(word) ? ["◌", ...visible] : visible;
  return all.length <= LONGEST ? all.join("") : `${all.slice(0, LONGEST - 1).join("")}…`;
}

/** Controls by their number, but for the joiners that words of many scripts are written with. */
function named(character: string): string {
  if (!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(character) || /[\u200c\u200d]/.test(character)) return character;
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
