// Of attention weights and scores, the heads and rows that a pass looks at.

import type { Tensor } from "../api/tensor.js";
import { showShape } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { GATHER } from "../operations/gather.js";
import type { Scope } from "./scope.js";

/** Weights [B, H, L, S] to [B, heads, L, S]. */
export async function chosenHeads(scope: Scope, weights: Tensor): Promise<Tensor> {
  const { heads } = scope.watch?.choice ?? { heads: null };
  if (heads === null) return weights;
  const [batch = 0, count = 0, queries = 0, keys = 0] = weights.shape;
  if (heads.some((head) => head >= count)) {
    throw new HeedError("option", `attentions.heads must be below ${count}, got ${showShape(heads)}`);
  }
  const indices = Array.from({ length: batch }, (_, entry) => heads.map((head) => entry * count + head)).flat();
  const table = { ...scope.rows(weights), count: batch * count, length: queries * keys };
  return scope.make(GATHER, { table, indices: Int32Array.from(indices) }, [batch, heads.length, queries, keys]);
}

/** Scores [B, H, L, S] to [B, heads, rows, S]. Of weights attention itself returns those rows alone. */
export async function chosenScores(scope: Scope, scores: Tensor): Promise<Tensor> {
  const chosen = await chosenHeads(scope, scores);
  const rows = scope.watch?.choice.rows as readonly [number, number] | undefined;
  if (rows === undefined) return chosen;
  const [batch = 0, heads = 0, queries = 0, keys = 0] = chosen.shape;
  const [from, to] = rows;
  const indices = Int32Array.from({ length: batch * heads * (to - from) }, (_, at) => {
    const head = Math.floor(at / (to - from));
    return head * queries + from + (at % (to - from));
  });
  const table = { ...scope.rows(chosen), count: batch * heads * queries, length: keys };
  return scope.make(GATHER, { table, indices }, [batch, heads, to - from, keys]);
}
