// Sizes of attention that fast-check draws.

import type { Sizes } from "./cases.js";
import type { Drawn } from "./drawn.js";

/** Mostly small, around lanes, panels and blocks; `most` bounds every axis, of which lengths may be 0. */
export function sizesOf(random: Drawn, most = 100): Sizes {
  const upTo = (...sizes: number[]): number => random.whole(1, Math.min(most, ...sizes));
  const length = (): number => [1, 0, upTo(8), upTo(33), upTo(100)][random.whole(0, 4)] ?? 1;
  const dim = (): number => [1, upTo(9), upTo(40)][random.whole(0, 2)] ?? 1;
  const kvHeads = upTo(3);
  const [headDim, queryLength] = [dim(), length()];
  return {
    batch: upTo(2),
    heads: kvHeads * upTo(3),
    kvHeads,
    queryLength,
    keyLength: length(),
    headDim,
    valueDim: random.chance(0.5) ? headDim : dim(),
  };
}
