// Attention over a cache, which lives in the engine that made it: few tokens go there and back.

import type { Heed } from "../api/heed.js";
import { isRecord } from "../api/read-values.js";
import type { AnyAttentionResult } from "../api/results.js";
import { readWhole } from "./readable.js";
import { withTensors } from "./resident-options.js";
import type { AttentionTensors, Scope } from "./scope.js";

export async function attendWithCache(
  scope: Scope,
  heed: Heed,
  { query, key, value }: AttentionTensors,
  options: Readonly<Record<string, unknown>>,
): Promise<AnyAttentionResult> {
  const [q, k, v] = await Promise.all([query, key, value].map(readWhole));
  const passed = await withTensors(options, (_, tensor) => readWhole(tensor));
  const own = { ...passed, cache: scope.held(options["cache"]), signal: scope.signal ?? undefined };
  const result: AnyAttentionResult = await Reflect.apply(heed.attention, heed, [q, k, v, own]);
  const brought = Object.entries(result).map(([name, part]) => [
    name,
    part === undefined || !("data" in part) ? part : scope.upload(part.data, part.shape),
  ]);
  return {
    output: undefined,
    weights: undefined,
    lse: undefined,
    scores: undefined,
    entropy: undefined,
    ...Object.fromEntries(brought),
  };
}

/** Tokens that a cache holds, once it is this pass's turn. */
export function lengthOf(cache: unknown): number | undefined {
  return isRecord(cache) && typeof cache["length"] === "number" ? cache["length"] : undefined;
}
