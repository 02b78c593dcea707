// The caches of a stack: one for each of its layers, with the same tokens.

import { showShape, showValue } from "../api/describe.js";
import { HeedError } from "../api/errors.js";
import { isRecord } from "../api/read-values.js";

export function readCaches(where: string, value: unknown, layers: number): readonly unknown[] | null {
  if (value === undefined) return null;
  const fail = (rule: string, got: string): never => {
    throw new HeedError("option", `${where}: caches must ${rule}, got ${got}`);
  };
  const each = `be one for each of ${layers} layers`;
  if (!Array.isArray(value) || value.length !== layers) {
    return fail(each, Array.isArray(value) ? showShape([value.length]) : showValue(value));
  }
  if (new Set(value).size < value.length) fail(each, "one of them twice");
  const lengths = value.map(lengthOf);
  if (new Set(lengths).size > 1) fail("hold equally many tokens", `lengths ${showShape(lengths)}`);
  return value;
}

/** The tokens that a cache holds, once a pass has its lock. */
export function lengthOf(cache: unknown): number | undefined {
  return isRecord(cache) && typeof cache["length"] === "number" ? cache["length"] : undefined;
}

/** The number of tokens in the caches. */
export function pastLength(caches: readonly unknown[] | null): number {
  return lengthOf(caches?.[0]) ?? 0;
}

/** The first token that each cache still holds. */
export function startsOf(caches: readonly unknown[] | null): readonly number[] {
  return (caches ?? []).map((cache) => (isRecord(cache) ? Number(cache["start"]) : 0));
}
