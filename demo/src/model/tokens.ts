// A sentence cut into words and signs. The rows of X, in reading order.

/** More rows than this stop being a picture. */
export const MOST_TOKENS = 24;

/** Letters of the line that one types. */
export const LONGEST_TEXT = 400;

/** "[pad]", words with their apostrophes and hyphens, flags, keycaps, emoji with their joiners; every other sign stands alone. */
const WORD =
  /\[\p{L}+\]|\p{Regional_Indicator}{2}|[#*\d]\uFE0F?\u20E3|[\p{L}\p{N}\p{M}]+(?:['’-][\p{L}\p{N}\p{M}]+)*|\p{Extended_Pictographic}(?:\uFE0F|\p{Emoji_Modifier}|\u200D\p{Extended_Pictographic})*|\S/gu;

/** Each word, and where it stands in the text. */
export const wordsIn = (text: string) =>
  Array.from(text.matchAll(WORD), ({ 0: word, index }) => ({ text: word, start: index, end: index + word.length }));

/** `leftOut`: how many words there are beyond so many. */
export function cutIntoWords(text: string, most = MOST_TOKENS) {
  const found: readonly string[] = text.normalize("NFC").match(WORD) ?? [];
  return { words: found.slice(0, most), leftOut: Math.max(0, found.length - most) };
}
