// The caches of a stack: one for each of its layers, with the same tokens.

import type { HeldCache, KVCache } from "../api/cache-types.js";
import { showShape, showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { heldCache } from "./cache-locks.js";
import type { Scope } from "./scope.js";

/** KV caches, one for each layer, or for each layer a list with one of each batch entry, which may hold unequally many tokens. */
export type LayerCaches = readonly (KVCache | readonly KVCache[])[];

export function readCaches(scope: Scope, where: string, value: unknown, layers: number): readonly HeldCache[] | null {
  if (value === undefined) return null;
  const fail = (rule: string, got: string): never => {
    throw new HeedError("option", `${where}: caches must ${rule}, got ${got}`);
  };
  const each = `be one for each of ${layers} layers`;
  if (!Array.isArray(value) || value.length !== layers) {
    return fail(each, Array.isArray(value) ? showShape([value.length]) : showValue(value));
  }
  if (new Set(value.flat()).size < value.flat().length) fail(each, "one of them twice");
  const caches = value.map((layer) => {
    const [first, ...others] = [layer]
      .flat()
      .map((cache) => heldCache(scope.held, where, cache) ?? fail(each, "undefined"));
    if (first === undefined) return fail(each, "an empty list");
    return Array.isArray(layer) ? first.join(where, others) : first;
  });
  const lengths = caches.map(({ length, lengths }) => showShape(lengths ?? [length]));
  if (new Set(lengths).size > 1)
    fail("hold equally many tokens", `lengths ${showShape(caches.map(({ length }) => length))}`);
  return caches;
}

/** The positions of so many tokens of each batch entry, after those that its cache has. */
export function positionsAfter(
  where: string,
  lengths: readonly number[],
  [batch, count]: readonly [number, number],
): Int32Array<ArrayBuffer> {
  if (lengths.length !== batch) {
    throw new HeedError(
      "option",
      `${where}: caches must be one for each of ${batch} batch entries, got ${lengths.length}`,
    );
  }
  return Int32Array.from({ length: batch * count }, (_, at) => (lengths[Math.floor(at / count)] ?? 0) + (at % count));
}
