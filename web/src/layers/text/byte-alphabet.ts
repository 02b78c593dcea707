// GPT-2's byte alphabet: a visible character for each of the 256 bytes.

/** Bytes that stand for themselves. The others are U+0100 and the characters after it, in order. */
const isVisible = (byte: number): boolean =>
  (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);

export const CHARACTERS: readonly string[] = makeCharacters();

const BYTES: ReadonlyMap<string, number> = new Map(CHARACTERS.map((character, byte) => [character, byte]));

function makeCharacters(): string[] {
  let others = 0;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isVisible(byte) ? byte : 0x100 + others++));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The UTF-8 bytes of a character, in the alphabet. */
export function toByteCharacters(character: string): string {
  let text = "";
  for (const byte of encoder.encode(character)) text += CHARACTERS[byte];
  return text;
}

/** The bytes of a text in the alphabet. A text with other characters gives its UTF-8 bytes. */
export function toBytes(text: string): readonly number[] {
  const bytes = Array.from(text, (character) => BYTES.get(character));
  const all = bytes.filter((byte) => byte !== undefined);
  return all.length === bytes.length ? all : [...encoder.encode(text)];
}

/** Bytes that are not UTF-8 become U+FFFD. */
export function textOfBytes(bytes: readonly number[]): string {
  return decoder.decode(Uint8Array.from(bytes));
}
