// A pass takes its turn at all of its caches at once when it is called, and leaves them as they were if it fails.

import { type CacheTurn, TURN } from "../api/cache/door.js";
import { unlessAborted } from "../api/cache/turns.js";
import { isRecord } from "../api/read-values.js";

/** From caches to what stands for them in a pass that has its turn at them. */
export type HeldCaches = ReadonlyMap<unknown, object>;

const NONE: HeldCaches = new Map();

export interface Pass<R> {
  readonly where: string;
  readonly caches: readonly unknown[];
  readonly signal: AbortSignal | null;
  readonly act: (held: HeldCaches) => Promise<R>;
}

/** Runs `act` when all calls with the caches that were made before are done. Passes cannot wait for each other: all turns are taken at once. */
export async function inTurn<R>({ where, caches, signal, act }: Pass<R>): Promise<R> {
  const takers = [...new Set(caches)].filter(hasTurns);
  if (takers.length === 0) return act(NONE);
  const turns = new Map<unknown, CacheTurn>(takers.map((cache) => [cache, cache[TURN]()]));
  const end = (isKept: boolean): Promise<unknown> => Promise.all([...turns.values()].map((turn) => turn.end(isKept)));
  const begun = Promise.all([...turns.values()].map((turn) => turn.begun));
  try {
    await (signal === null ? begun : unlessAborted(where, begun, signal));
  } catch (error) {
    // Its turns come later: they end as they begin.
    end(false).catch(() => {});
    throw error;
  }
  let result: R;
  try {
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
