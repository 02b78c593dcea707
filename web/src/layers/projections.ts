// Tensors between layers and attention.

import type { AnyAttentionResult, AttentionResult } from "../api/results.js";
import { Tensor } from "../api/tensor.js";
import { showShape } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { checkWidth, handOut, type Scope } from "./scope.js";

/** Checks that x is [L, E] or [B, L, E] with E = width, and returns [B, L]. */
export function leadingOf(where: string, name: string, x: Tensor, width: number): readonly [number, number] {
  checkWidth(where, name, x, width);
  if (x.shape.length === 2 || x.shape.length === 3) return batchAndLength(x);
  throw new HeedError("shape", `${where}: ${name} must be [L, E] or [B, L, E], got ${showShape(x.shape)}`);
}

/** [B, L] of [L, E] or [B, L, E]. */
export function batchAndLength({ shape: [first = 0, second = 0, third] }: Tensor): readonly [number, number] {
  return third === undefined ? [1, first] : [first, second];
}

/** Returns all results to the caller, as arrays or tensors; without the batch axis where `isSingle`. */
export async function handOutAll<O>(
  scope: Scope,
  result: AnyAttentionResult,
  keep: boolean,
  isSingle: boolean,
): Promise<AttentionResult<O>> {
  const parts: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(result)) {
    if (!(part instanceof Tensor)) continue;
    const isBatched = isSingle && name !== "output";
    parts[name] = await handOut(scope, isBatched ? await scope.copied(part, part.shape.slice(1)) : part, keep);
  }
  const { output, weights, lse, scores, entropy } = parts;
  // The type follows from the options, which TypeScript cannot see here.
  return { output, weights, lse, scores, entropy } as AttentionResult<O>;
}
