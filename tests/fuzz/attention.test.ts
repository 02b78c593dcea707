// Attention of any options and shapes against the double-precision reference, and the same bits wherever it is computed.

import { afterAll, expect, test } from "vitest";
import { caseOf, compute, computeSync, firstDifferentBit, firstError, type Sizes } from "../support/cases.js";
import { PATIENCE, tried, type Drawn } from "../support/drawn.js";
import { ENGINE_KINDS, nameOf, openKind } from "../support/engines.js";

const engines = await Promise.all(
  ENGINE_KINDS.map(async (kind) => ({ ...kind, name: nameOf(kind), heed: await openKind(kind) })),
);
afterAll(() => {
  for (const { heed } of engines) heed.dispose();
});

function sizesOf(random: Drawn): Sizes {
  const kvHeads = random.whole(1, 3);
  const length = (): number => random.pick([1, 0, random.whole(1, 8), random.whole(1, 33), random.whole(60, 100)]);
  const dim = (): number => random.pick([1, random.whole(1, 9), random.whole(1, 40)]);
  const [headDim, queryLength] = [dim(), length()];
  return {
    batch: random.whole(1, 2),
    heads: kvHeads * random.whole(1, 3),
    kvHeads,
    queryLength,
    keyLength: length(),
    headDim,
    valueDim: random.chance(0.5) ? headDim : dim(),
  };
}

test(
  "any problem is within the error model, with the bits of its variant on every kind of worker",
  async () => {
    await tried(250, async (random) => {
      const one = caseOf(random, "", sizesOf(random));
      for (const variant of ["simd", "relaxed"]) {
        const [first, ...others] = engines.filter((engine) => engine.variant === variant);
        const result = computeSync(first!.heed, one);
        expect(firstError(one, result)).toBeNull();
        for (const { heed, name } of others) {
          expect(firstDifferentBit(await compute(heed, one), result), `${name}: ${one.name}`).toBeNull();
        }
      }
    });
  },
  PATIENCE,
);
