// Readers of layers' options beside those of the API.

import { HeedError } from "../api/errors.js";
import { guard } from "../api/guard.js";
import { readCount, readRecord } from "../api/read-values.js";

/** Options that a layer cannot do without: an object, all of whose names are known. */
export function readSizes<O>(
  where: string,
  options: O,
  names: readonly string[],
): O & Readonly<Record<string, unknown>> {
  if (options !== undefined) return readOnce(where, "options", options, names) as ReturnType<typeof readSizes<O>>;
  throw new HeedError("option", `${where}: options must be an object, got undefined`);
}

/** What options have of these names, each asked for once. */
export function readOnce(
  where: string,
  what: string,
  options: unknown,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  return guard("option", `${where}: reading ${what}`, () => {
    const given = readRecord(where, what, options, names);
    const read: Record<string, unknown> = {};
    for (const name of names) {
      const value = given[name];
      if (value !== undefined) read[name] = value;
    }
    return read;
  });
}

/** What was read, where it must not be absent. */
export function required<T>(where: string, name: string, value: T | null): T {
  if (value !== null) return value;
  throw new HeedError("option", `${where}: ${name} must be given`);
}

/** Blocks of a stack: the deepest published transformers have 1,000, and each takes memory before any parameter is there. */
export const MOST_LAYERS = 1024;

/** A size or a count that a layer cannot do without. */
export function readSize(where: string, name: string, value: unknown, most?: number): number {
  return required(where, name, readCount(where, name, value, null, most));
}

/** One of the parts of a shape must divide another. */
export function checkDivides(where: string, name: string, count: number, of: string, whole: number): void {
  if (whole % count === 0) return;
  throw new HeedError("option", `${where}: ${of} must be a multiple of ${name}, got ${whole} and ${count}`);
}
