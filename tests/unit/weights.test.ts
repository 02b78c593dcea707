// Which weights come back: all, those of some rows, or their mean over the heads, in every layout and on every kind of engine.

import { afterAll, describe, expect, test } from "vitest";
import { attention as reference } from "../../web/src/reference/index.js";
import { boundsOf, type Case, cases, differentIndex } from "../support/cases.js";
import { FEW_KINDS, openKind } from "../support/engines.js";

const problems = cases(29, 40);

describe.each(FEW_KINDS)("$variant, $worker worker", async (kind) => {
  const heed = await openKind(kind);
  afterAll(() => heed.dispose());

  test("weights of some rows are those rows of all weights", async () => {
    for (const one of problems) {
      const { query, key, value, sizes } = one;
      const options = { ...one.options, keep: false } as const;
      const [from, to] = [Math.floor(sizes.queryLength / 3), Math.floor(sizes.queryLength / 3) + 1];
      const all = await heed.attention(query, key, value, { ...options, return: { weights: true } });
      const some = await heed.attention(query, key, value, { ...options, return: { weights: { rows: [from, to] } } });
      const wanted = [...all.weights.shape];
      wanted[wanted.length - 2] = to - from;
      expect(some.weights.shape, one.name).toEqual(wanted);
      expect(differentIndex(some.weights.data, rowsOf(all.weights.data, sizes, from, to)), one.name).toBe(-1);
      expect(some.output, one.name).toEqual(all.output);
    }
  });

  test("the mean is the reference's, within the error of the weights that it is made of", async () => {
    for (const one of problems) {
      const { query, key, value } = one;
      const options = { ...one.options, keep: false } as const;
      const { weights, output } = await heed.attention(query, key, value, { ...options, return: { weights: "mean" } });
      const plain = await heed.attention(query, key, value, options);
      expect(output, one.name).toEqual(plain.output);
      expect(firstMeanError(one, weights), one.name).toBeNull();
    }
  });

  test("a sync call, a kept result and a result without output give the same", async () => {
    const one = problems[3] ?? expect.unreachable();
    const { query, key, value } = one;
    const options = { ...one.options, keep: false } as const;
    for (const weights of ["mean", { rows: [0, 1] }] as const) {
      const expected = await heed.attention(query, key, value, { ...options, return: { weights } });
      expect(heed.attentionSync(query, key, value, { ...options, return: { weights } })).toEqual(expected);
      const kept = await heed.attention(query, key, value, {
        ...options,
        return: { weights, output: false },
        keep: true,
      });
      expect([kept.output, kept.weights.shape]).toEqual([undefined, expected.weights.shape]);
      expect(await kept.weights.read()).toEqual(expected.weights.data);
      kept.weights.dispose();
    }
  });
});

function rowsOf(weights: Float32Array, sizes: Case["sizes"], from: number, to: number): Float32Array {
  const { batch, heads, queryLength, keyLength } = sizes;
  const parts = Array.from({ length: batch * heads }, (_, group) => {
    const start = group * queryLength;
    return [...weights.subarray((start + from) * keyLength, (start + to) * keyLength)];
  });
  return Float32Array.from(parts.flat());
}

/** As a weight's bound, and a rounding of the sum for each head. */
function firstMeanError(
  one: Case,
  got: { readonly data: Float32Array; readonly shape: readonly number[] },
): string | null {
  const { query, key, value, options, sizes } = one;
  const wanted = reference(query, key, value, options).meanWeights;
  if (String(got.shape) !== String(wanted.shape)) return `shape [${got.shape}], not [${wanted.shape}]`;
  const relative = boundsOf(one).weights + (sizes.heads + 2) * 2 ** -24;
  const index = wanted.data.findIndex(
    (exact, at) => !(Math.abs((got.data[at] ?? Number.NaN) - exact) <= relative * exact + 2 ** -80),
  );
  return index === -1 ? null : `[${index}] is ${got.data[index]}, not ${wanted.data[index]}`;
}
