// Reads the options by batch entry, sequence, head or position, and checks them against the shapes: window, offsets, lengths, ALiBi slopes, sinks.

import type { AttentionStructure, Dims4 } from "../backends/backend.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { refusal } from "../base/read-values.js";
import { numbersOf } from "../base/typed-array.js";
import { readSequences } from "./sequences.js";

/** The unchecked options. */
export interface GivenStructure {
  readonly window: unknown;
  readonly qOffset: unknown;
  readonly qLengths: unknown;
  readonly kvLengths: unknown;
  readonly cuSeqlensQ: unknown;
  readonly cuSeqlensK: unknown;
  readonly alibiSlopes: unknown;
  readonly sinks: unknown;
}

/** Up to here positions are exact in f32, and sums of them do not overflow. */
const MAX_OFFSET = 2 ** 24;

/** `scores` is [batch, query heads, query length, key length]. */
export function readStructure(where: string, given: GivenStructure, scores: Dims4): AttentionStructure {
  const [batch, heads, queries, keys] = scores;
  const [windowLeft = null, windowRight = null] = readWindow(where, given.window);
  const sequences = readSequences(where, given, scores);
  return {
    windowLeft,
    windowRight,
    qOffsets:
      sequences === null
        ? readOffsets(where, given.qOffset, batch, "batch entries")
        : readOffsets(where, given.qOffset, sequences.queryStarts.length - 1, "sequences"),
    sequences,
    qLengths: readLengths(where, "qLengths", given.qLengths, batch, queries),
    kvLengths: readLengths(where, "kvLengths", given.kvLengths, batch, keys),
    alibiSlopes: readPerHead(where, "alibiSlopes", given.alibiSlopes, heads, (slope) => Math.abs(slope) <= 1e30),
    sinks: readPerHead(where, "sinks", given.sinks, heads, (sink) => sink <= 1e30),
  };
}

/** [left, right], null where open. */
export function readWindow(where: string, value: unknown): readonly (number | null)[] {
  if (value === undefined) return [null, null];
  const sides = numbersOf(value, 2);
  const isOpen = (side: number): boolean => side === -1 || side === Infinity;
  if (sides?.length === 2 && sides.every((side) => isOpen(side) || (Number.isInteger(side) && side >= 0))) {
    return sides.map((side) => (isOpen(side) ? null : Math.min(side, 2 ** 31 - 1)));
  }
  throw refusal(where, "window", "[left, right], whole numbers, -1 or Infinity for open", value);
}

/** One for each of `count` things. */
function readOffsets(where: string, value: unknown, count: number, things: string): Int32Array<ArrayBuffer> | null {
  if (value === undefined) return null;
  const offsets = typeof value === "number" ? new Array<number>(count).fill(value) : numbersOf(value, count);
  const isOffset = (offset: number): boolean => Number.isInteger(offset) && Math.abs(offset) <= MAX_OFFSET;
  if (offsets === null || offsets.length !== count || !offsets.every(isOffset)) {
    throw refusal(
      where,
      "qOffset",
      `a whole number between -2^24 and 2^24, or one for each of ${count} ${things}`,
      value,
    );
  }
  return Int32Array.from(offsets);
}

function readLengths(
  where: string,
  name: string,
  value: unknown,
  batch: number,
  limit: number,
): Int32Array<ArrayBuffer> | null {
  if (value === undefined) return null;
  const lengths = numbersOf(value, batch);
  const isLength = (length: number): boolean => Number.isInteger(length) && length >= 0 && length <= limit;
  if (lengths === null || lengths.length !== batch || !lengths.every(isLength)) {
    throw new HeedError(
      "option",
      `${where}: ${name} must hold a whole number from 0 to ${limit} for each of ${batch} batch entries, got ${showValue(value)}`,
    );
  }
  return Int32Array.from(lengths);
}

function readPerHead(
  where: string,
  name: string,
  value: unknown,
  heads: number,
  isGood: (number: number) => boolean,
): Float32Array<ArrayBuffer> | null {
  if (value === undefined) return null;
  const numbers = numbersOf(value, heads);
  if (numbers === null || numbers.length !== heads || !numbers.every((number) => isGood(Math.fround(number)))) {
    throw new HeedError(
      "option",
      `${where}: ${name} must hold a number of at most 1e30 for each of ${heads} query heads, got ${showValue(value)}`,
    );
  }
  return Float32Array.from(numbers);
}
