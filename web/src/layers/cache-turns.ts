// A pass takes its turn at all of its caches at once when it is called, and leaves them as they were if it fails.

import { type CacheTurn, TURN } from "../api/cache/door.js";
import { isRecord } from "../api/read-values.js";

/** From caches to what stands for them in a pass that has its turn at them. */
export type HeldCaches = ReadonlyMap<unknown, object>;

const NONE: HeldCaches = new Map();

/** Runs `act` when all calls with those caches that were made before are done. Passes cannot wait for each other: all turns are taken at once. */
export async function inTurn<R>(caches: readonly unknown[], act: (held: HeldCaches) => Promise<R>): Promise<R> {
  const takers = [...new Set(caches)].filter(hasTurns);
  if (takers.length === 0) return act(NONE);
  const turns = new Map<unknown, CacheTurn>(takers.map((cache) => [cache, cache[TURN]()]));
  const end = (isKept: boolean): Promise<unknown> => Promise.all([...turns.values()].map((turn) => turn.end(isKept)));
  let result: R;
  try {
    await Promise.all([...turns.values()].map(({ begun }) => begun));
    result = await act(new Map([...turns].map(([cache, { standIn }]) => [cache, standIn])));
  } catch (error) {
    await end(false);
    throw error;
  }
  await end(true);
  return result;
}

/** Every cache among the options of a forward: its own, those of a model's layers, those of the attentions inside. */
export function cachesIn(given: Readonly<Record<string, unknown>>): readonly unknown[] {
  const { cache, caches } = given;
  const inner = ["self", "cross", "encoder"].map((name) => given[name]).map((part) => isRecord(part) && part["cache"]);
  return [cache, ...(Array.isArray(caches) ? caches : []), ...inner];
}

function hasTurns(cache: unknown): cache is { [TURN](): CacheTurn } {
  return isRecord(cache) && TURN in cache && typeof cache[TURN] === "function";
}
