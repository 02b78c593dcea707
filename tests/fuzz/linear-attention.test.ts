// Linear attention of any rule, length and state against heed/reference, and the same bits on every kind of worker.

import { afterAll, expect, test } from "vitest";
import { PATIENCE, tried } from "../support/drawn.js";
import { ENGINE_KINDS, openKind } from "../support/engines.js";
import { linearCall, RULES, worstError } from "../support/linear.js";

const engines = await Promise.all(ENGINE_KINDS.map(async (kind) => ({ kind, heed: await openKind(kind) })));
afterAll(() => {
  for (const { heed } of engines) heed.dispose();
});

test(
  "any call is within its error, with the bits of its variant on every kind of worker",
  async () => {
    await tried("linear attention", 50, async (random) => {
      const call = linearCall(random, random.pick(RULES), random.whole(0, 64), random.chance(0.5));
      const first = new Map<string, unknown>();
      for (const { kind, heed } of engines) {
        const got = await heed.linearAttention(call.query, call.key, call.value, { ...call.options, keep: false });
        expect(worstError(call, got)).toBeLessThan(1);
        if (!first.has(kind.variant)) first.set(kind.variant, got);
        expect(got, `${kind.variant}, ${kind.worker} worker`).toEqual(first.get(kind.variant));
      }
    });
  },
  PATIENCE,
);
