// Returns the results of a pass to the caller.

import type { AnyAttentionResult, AttentionResult } from "../api/results.js";
import { type ArrayTensor, Tensor } from "../api/tensor.js";
import { copied } from "./affine.js";
import type { Scope } from "./scope.js";

/** An array or, with `keep`, the tensor. In a pass that is differentiated it is the pass's. */
export async function handOut(scope: Scope, tensor: Tensor, keep: boolean): Promise<Tensor | ArrayTensor> {
  if (scope.tape !== null) return tensor;
  if (keep) return scope.release(tensor);
  return { data: await tensor.read(), shape: tensor.shape, dtype: "f32" };
}

/** All results of attention; without the batch axis where `isSingle`. */
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
    const handed = isBatched ? await copied(scope, scope.rows(part), part.shape.slice(1)) : part;
    parts[name] = await handOut(scope, handed, keep);
  }
  const { output, weights, lse, scores, entropy } = parts;
  // The type follows from the options, which TypeScript cannot see here.
  return { output, weights, lse, scores, entropy } as AttentionResult<O>;
}
