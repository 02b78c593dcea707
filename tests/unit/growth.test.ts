// How much memory calls take: it grows with L + S and never with L x S, and never beyond what there is.

import { afterAll, describe, expect, test } from "vitest";
import type { Tensor } from "../../web/src/index.js";
import { errorOf } from "../support/cases.js";
import { ENGINE_KINDS, nameOf, openKind } from "../support/engines.js";

describe.each([
  { variant: "relaxed", worker: null },
  { variant: "simd", worker: "shared-memory" },
] as const)("$variant, $worker worker", async (kind) => {
  const heed = await openKind(kind);
  afterAll(() => heed.dispose());

  test("memory is refused before it runs out, and what is there stays as it was", async () => {
    const tensors: Tensor[] = [];
    const fill = async (elements: number): Promise<void> => {
      const error = await errorOf(() => {
        for (let i = 0; i < 64; i++) tensors.push(heed.zeros([elements]));
      });
      expect(error.code).toBe("memory");
    };
    await fill(2 ** 26);
    await fill(2 ** 23);
    const wide = { data: new Float32Array(3000).fill(1), shape: [3000, 1] };
    const refused = await errorOf(() => heed.attention(wide, wide, wide, { return: { weights: true } }));
    expect(refused.code).toBe("memory");
    // The first, the last, and one of those between: all of them hold half a billion numbers.
    for (const index of [0, 4, tensors.length - 1]) {
      const values = (await tensors[index]?.read()) ?? [Number.NaN];
      let sum = 0;
      for (let i = 0; i < values.length; i++) sum += Math.abs(values[i] ?? 0);
      expect(sum).toBe(0);
    }
    for (const tensor of tensors) tensor.dispose();
    const one = { data: Float32Array.of(1), shape: [1, 1] };
    expect((await heed.attention(one, one, one)).output.data[0]).toBe(1);
  });
});

// wk projects the keys to 2.1 GB, which is less than the largest memory and more than is left of it.
test.each(ENGINE_KINDS.map((kind) => [nameOf(kind), kind] as const))(
  "%s: a call is refused when there is no room for its scratch memory",
  async (_, kind) => {
    using heed = await openKind(kind);
    const of = (...shape: number[]) => ({ data: new Float32Array(shape.reduce((a, b) => a * b)), shape });
    const [query, keys, wide] = [of(1, 1, 8, 2), of(1, 1, 2 ** 20, 2), of(511, 2)];
    const score = { type: "additive", wq: wide, wk: wide } as const;
    const refused = await errorOf(() => heed.attention(query, keys, keys, { score }));
    expect(refused).toMatchObject({ code: "memory", message: expect.stringContaining("scratch memory") });
    expect((await heed.attention(query, query, query)).output.shape).toEqual(query.shape);
    expect(heed.capabilities.reasons.join()).not.toContain("lost");
  },
);
