// The kinds timed on this device, in turns; can be stopped between calls and within.

import type { AttentionOptions, Heed } from "heed";
import type { Expr } from "heed/expr";
import { normal } from "../../src/model/random.js";
import { KINDS, type Kind } from "./kinds.js";

export const [RACED_WIDTH, RACED_HIDDEN] = [64, 64];
const ROUNDS = 4;

/** The best of a few rounds each, in milliseconds: what else the device does then hits all alike. */
export async function race(
  heed: Heed,
  { tokens, own }: { readonly tokens: number; readonly own: Expr },
  signal: AbortSignal,
  progress: (done: number, of: number) => void,
): Promise<ReadonlyMap<Kind, number>> {
  const next = normal(1);
  const random = (...shape: readonly number[]) => ({
    data: Float32Array.from({ length: shape.reduce((count, size) => count * size, 1) }, () => next() / 4),
    shape,
  });
  const [q, k, v] = [
    random(1, 1, tokens, RACED_WIDTH),
    random(1, 1, tokens, RACED_WIDTH),
    random(1, 1, tokens, RACED_WIDTH),
  ];
  const square = random(RACED_HIDDEN, RACED_WIDTH);
  const options: Readonly<Record<Kind, AttentionOptions>> = {
    dot: { score: "dot" },
    "scaled-dot": {},
    general: { score: { type: "general", w: square } },
    additive: { score: { type: "additive", wq: square, wk: square } },
    gated: { score: { type: "gated", w: random(2 * RACED_WIDTH).data } },
    cosine: { score: "cosine" },
    rbf: { score: { type: "rbf", bandwidth: 2 } },
    distance: { score: "distance" },
    "top-k": { topK: 8 },
    sparsemax: { normalize: "sparsemax" },
    own: { scoreMod: () => own },
  };
  const best = new Map<Kind, number>();
  for (let turn = 0; turn < ROUNDS * KINDS.length; turn++) {
    const kind = KINDS[turn % KINDS.length] ?? "dot";
    progress(turn, ROUNDS * KINDS.length);
    const start = performance.now();
    await heed.attention(q, k, v, { ...options[kind], signal });
    best.set(kind, Math.min(best.get(kind) ?? Number.POSITIVE_INFINITY, performance.now() - start));
  }
  return best;
}
