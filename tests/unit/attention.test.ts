// Attention of every variant, on every kind of worker, against the double-precision reference.

import { afterAll, describe, expect, test } from "vitest";
import { cases, compute, computeSync, firstDifferentBit, firstError } from "../support/cases.js";
import { ENGINE_KINDS, nameOf, openKind } from "../support/engines.js";

const SEED = 20261120;
const SWEEP = cases(SEED, 160);

describe.each(ENGINE_KINDS)("$variant, $worker worker", async (kind) => {
  const heed = await openKind(kind);
  afterAll(() => heed.dispose());

  test(`async results of ${SWEEP.length} problems are within the error model`, async () => {
    const results = await Promise.all(SWEEP.map((one) => compute(heed, one)));
    const errors = results.map((result, index) => firstError(SWEEP[index] ?? fail(), result));
    expect(errors.filter((error) => error !== null)).toEqual([]);
  });

  test("sync results have the same bits as async ones", async () => {
    for (const one of SWEEP.slice(0, 60)) {
      expect(firstDifferentBit(computeSync(heed, one), await compute(heed, one)), one.name).toBeNull();
    }
  });
});

test("one variant gives the same bits on every kind of worker", async () => {
  for (const variant of ["simd", "relaxed"] as const) {
    const kinds = ENGINE_KINDS.filter((kind) => kind.variant === variant);
    const engines = await Promise.all(kinds.map((kind) => openKind(kind)));
    for (const one of SWEEP.slice(0, 40)) {
      const [first, ...others] = await Promise.all(engines.map((heed) => compute(heed, one)));
      for (const [index, other] of others.entries()) {
        const where = `${one.name} on ${nameOf(kinds[index + 1] ?? fail())}`;
        expect(firstDifferentBit(other, first ?? fail()), where).toBeNull();
      }
    }
    for (const heed of engines) heed.dispose();
  }
});

function fail(): never {
  throw new Error("unreachable");
}
