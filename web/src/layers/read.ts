// Readers of options that layers need beside those of the API.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guard } from "../base/guard.js";
import { readCount, readFinite, readRecord } from "../base/read-values.js";
import { listOf } from "../base/typed-array.js";
import { ELSEWHERE } from "./elsewhere.js";

/** Options that must be given: an object without unknown names. */
export function readSizes<O>(
  where: string,
  options: O,
  names: readonly string[],
): O & Readonly<Record<string, unknown>> {
  if (options !== undefined) return readOnce(where, "options", options, names) as ReturnType<typeof readSizes<O>>;
  throw new HeedError("option", `${where}: options must be an object, got undefined`);
}

/** A copy of options with these names, each of which is read once. */
export function readOnce(
  where: string,
  what: string,
  options: unknown,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  return readCopy(where, what, options, names, ELSEWHERE);
}

/** The same, where no other library has names of its own for these options. */
export function readCopy(
  where: string,
  what: string,
  options: unknown,
  names: readonly string[],
  elsewhere?: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  return guard("option", `${where}: reading ${what}`, () => {
    const given = readRecord(where, what, options, names, elsewhere);
    const read: Record<string, unknown> = {};
    for (const name of names) {
      const value = given[name];
      if (value !== undefined) read[name] = value;
    }
    return read;
  });
}

/** Throws where an option is absent. */
export function required<T>(where: string, name: string, value: T | null): T {
  if (value !== null) return value;
  throw new HeedError("option", `${where}: ${name} must be given`);
}

/** The deepest published transformers have 1,000 blocks. Each takes memory before any parameter is loaded. */
export const MOST_LAYERS = 1024;

/** A size or a count that must be given. */
export function readSize(where: string, name: string, value: unknown, most?: number): number {
  return required(where, name, readCount(where, name, value, null, most));
}

/** A rate or an epsilon: unlike what `readPositive` reads, it may be 0. */
export function readAtLeastZero(where: string, name: string, value: unknown, absent: number): number {
  const number = readFinite(where, name, value, absent);
  if (number >= 0) return number;
  throw new HeedError("option", `${where}: ${name} must be at least 0, got ${number}`);
}

/** A share of numbers to drop, from 0 to below 1. Default 0. */
export function readShare(where: string, name: string, value: unknown): number {
  const share = readAtLeastZero(where, name, value, 0);
  if (Math.fround(share) < 1) return share;
  throw new HeedError("option", `${where}: ${name} must be below 1, got ${share}`);
}

/** One for both, or one each. */
export function readShares(where: string, name: string, value: unknown): readonly [number, number] {
  const given = listOf<unknown>(value, 2) ?? [value, value];
  if (given.length === 2) return [readShare(where, name, given[0]), readShare(where, name, given[1])];
  throw new HeedError("option", `${where}: ${name} must be a number or two, got ${showValue(value)}`);
}

/** Throws unless `count` divides `whole`. */
export function checkDivides(where: string, name: string, count: number, of: string, whole: number): void {
  if (whole % count === 0) return;
  throw new HeedError("option", `${where}: ${of} must be a multiple of ${name}, got ${whole} and ${count}`);
}
