// Byte fallback: text that a vocabulary does not have is written as tokens of its UTF-8 bytes, <0x00> to <0xFF>.

const encoder = new TextEncoder();

/** Null where a byte is not in the vocabulary. */
export function byteIds(text: string, vocabulary: ReadonlyMap<string, number>): number[] | null {
  const tokens = Array.from(encoder.encode(text), (byte) => vocabulary.get(byteToken(byte)));
  const ids = tokens.filter((id) => id !== undefined);
  return ids.length === tokens.length ? ids : null;
}

const byteToken = (byte: number): string => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
