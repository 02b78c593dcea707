// Calls of which some part is spoilt: they give what the call gives, or reject with a HeedError that names the function, and the next call is right.

import { afterAll, expect, test } from "vitest";
import { HeedError } from "../../web/src/index.js";
import { spoilers } from "../support/abuse.js";
import { caseOf, differentIndex } from "../support/cases.js";
import { PATIENCE, tried } from "../support/drawn.js";
import { FEW_KINDS, nameOf, openKind } from "../support/engines.js";
import { sizesOf } from "../support/sizes.js";

const engines = await Promise.all(FEW_KINDS.map(async (kind) => ({ name: nameOf(kind), heed: await openKind(kind) })));
afterAll(() => {
  for (const { heed } of engines) heed.dispose();
});

/** Lists and objects anew, which may be written to. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, copied(one)]));
}

const METHODS = ["attention", "attentionSync", "attentionVjp"] as const;

test(
  "a spoilt call is refused in the name of its function, and the engine works on",
  async () => {
    let refused = 0;
    await tried("refused", 150, async (random) => {
      const one = caseOf(random, "", sizesOf(random, 5));
      const given = () => [one.query, one.key, one.value, one.options].map(copied);
      const onMore = (): never => {
        throw new Error("a long list was read");
      };
      const all = spoilers(given(), onMore);
      const method = random.pick(METHODS);
      const spoils = Array.from({ length: random.whole(1, 3) }, () => all[random.whole(0, all.length - 1)]);
      for (const { heed, name } of engines) {
        const before = heed.attentionSync(one.query, one.key, one.value, { ...one.options, keep: false }).output.data;
        const spoilt = given();
        try {
          // What is put somewhere first may be what another one goes into.
          for (const one of spoils) one?.spoil(spoilt);
        } catch {
          return;
        }
        try {
          const made = await Reflect.apply(heed[method], heed, spoilt);
          for (const part of Object.values(made as object)) part?.dispose?.();
          (made as { release?: () => void }).release?.();
        } catch (error) {
          refused += 1;
          expect(error, `${name}: ${one.name}`).toBeInstanceOf(HeedError);
          expect((error as HeedError).message).toMatch(new RegExp(`^${method}\\b`));
        }
        const { output } = heed.attentionSync(one.query, one.key, one.value, { ...one.options, keep: false });
        expect(differentIndex(output.data, before), `${name}: ${one.name}`).toBe(-1);
        expect(heed.memory().tensors, `${name}: ${one.name}`).toBe(0);
      }
    });
    expect(refused).toBeGreaterThan(100);
  },
  PATIENCE,
);
