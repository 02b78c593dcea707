// The caches of a stack: one for each of its layers, with the same tokens.

import type { HeldCache } from "../api/cache-types.js";
import { showShape, showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { heldCache } from "./cache-locks.js";
import type { Scope } from "./scope.js";

export function readCaches(scope: Scope, where: string, value: unknown, layers: number): readonly HeldCache[] | null {
  if (value === undefined) return null;
  const fail = (rule: string, got: string): never => {
    throw new HeedError("option", `${where}: caches must ${rule}, got ${got}`);
  };
  const each = `be one for each of ${layers} layers`;
  if (!Array.isArray(value) || value.length !== layers) {
    return fail(each, Array.isArray(value) ? showShape([value.length]) : showValue(value));
  }
  if (new Set(value).size < value.length) fail(each, "one of them twice");
  const caches = value.map((cache) => heldCache(scope.held, where, cache)).filter((cache) => cache !== null);
  if (caches.length < layers) fail(each, "undefined");
  const lengths = caches.map(({ length }) => length);
  if (new Set(lengths).size > 1) fail("hold equally many tokens", `lengths ${showShape(lengths)}`);
  return caches;
}
