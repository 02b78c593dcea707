// Attention with a KV cache. The cache lives in the engine that made it, so the few new tokens are copied there and back.

import type { Heed } from "../api/heed.js";
import { isRecord } from "../api/read-values.js";
import type { AnyAttentionResult } from "../api/results.js";
import type { Tensor } from "../api/tensor.js";
import { readWhole } from "./readable.js";
import { withTensors } from "./resident-options.js";

export interface AttentionTensors {
  readonly query: Tensor;
  readonly key: Tensor;
  readonly value: Tensor;
}

/** Computes on the engine `heed`. The results are arrays. */
export async function attendWithCache(
  heed: Heed,
  { query, key, value }: AttentionTensors,
  options: Readonly<Record<string, unknown>>,
): Promise<AnyAttentionResult> {
  const [q, k, v] = await Promise.all([query, key, value].map(readWhole));
  const read = await withTensors(options, (_, tensor) => readWhole(tensor));
  return Reflect.apply(heed.attention, heed, [q, k, v, read]);
}

/** The number of tokens in a cache, as of when the pass has its lock. */
export function lengthOf(cache: unknown): number | undefined {
  return isRecord(cache) && typeof cache["length"] === "number" ? cache["length"] : undefined;
}
