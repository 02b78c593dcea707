// Reads a block of numbers as written by spreadsheets, editors and people.

import { parseNumber } from "./numbers.js";

/** Rows of numbers, one per line; null where something else was pasted. */
export function readBlock(text: string): readonly (readonly number[])[] | null {
  const lines = text.trim().split(/\r?\n|;/);
  const rows: number[][] = [];
  for (const line of lines) {
    // Where tabs or blanks separate numbers, a comma is a decimal comma; otherwise commas separate.
    const parts = line
      .trim()
      .split(/\t|[^\S\t]+|,\s+/)
      .filter(Boolean);
    const fields = parts.length === 1 ? line.trim().split(",") : parts;
    const numbers = fields.map(parseNumber);
    if (numbers.length === 0 || numbers.some((value) => value === null)) return null;
    rows.push(numbers.filter((value) => value !== null));
  }
  return rows;
}
