// Tensors and options between layers and attention.

import { showShape } from "../api/describe.js";
import { HeedError } from "../api/errors.js";
import { ATTENTION_OPTIONS } from "../api/options.js";
import type { AnyAttentionResult, AttentionResult } from "../api/results.js";
import { Tensor } from "../api/tensor.js";
import { checkWidth, handOut, type Scope } from "./scope.js";

/** Options that layers set themselves. */
const OWN = ["layout", "heads", "kvHeads", "keep", "retry", "out", "signal"];

/** Options that are passed to attention unchanged. */
export const PASSED_OPTIONS: readonly string[] = ATTENTION_OPTIONS.filter((name) => !OWN.includes(name));

/** The options of a pass that belong to attention. */
export function passedOn(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    PASSED_OPTIONS.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  );
}

/** Checks that x is [L, E] or [B, L, E] with E = width, and returns [B, L]. */
export function leadingOf(where: string, name: string, x: Tensor, width: number): readonly [number, number] {
  const { shape } = x;
  checkWidth(where, name, x, width);
  const [first = 0, second = 0] = shape;
  if (shape.length === 2) return [1, first];
  if (shape.length === 3) return [first, second];
  throw new HeedError("shape", `${where}: ${name} must be [L, E] or [B, L, E], got ${showShape(shape)}`);
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
