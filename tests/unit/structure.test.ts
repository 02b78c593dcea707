// Window, offsets, lengths, ALiBi, sinks, softcap, scores and entropy, on cases whose results a person can work out.

import { afterAll, describe, expect, test } from "vitest";
import type { AttentionOptions } from "../../web/src/index.js";
import { EVERYTHING } from "../support/cases.js";
import { ENGINE_KINDS, openKind } from "../support/engines.js";
import { zeros } from "../support/tensors.js";

/** Queries of zeros: every score is 0, so that weights are even over the keys that a query sees. */

describe.each(ENGINE_KINDS)("$variant, $worker worker", async (kind) => {
  const heed = await openKind(kind);
  afterAll(() => heed.dispose());

  /** For each query the keys that it sees, as text: [1, 1, 4, 2] against 6 keys. */
  async function seen(options: AttentionOptions, batch = 1): Promise<string[]> {
    const [q, k] = [zeros(batch, 1, 4, 2), zeros(batch, 1, 6, 2)];
    const { weights, entropy, lse } = await heed.attention(q, k, k, { ...options, ...EVERYTHING, keep: false });
    return Array.from({ length: batch * 4 }, (_, row) => {
      const keys = [...weights.data.subarray(row * 6, row * 6 + 6).entries()].filter(([, weight]) => weight > 0);
      for (const [, weight] of keys) expect(weight).toBeCloseTo(1 / keys.length, 6);
      expect(entropy.data[row]).toBeCloseTo(Math.log(Math.max(1, keys.length)), 5);
      expect(lse.data[row]).toBeCloseTo(keys.length === 0 ? -Infinity : Math.log(keys.length), 5);
      return keys.map(([key]) => key).join("");
    });
  }

  test.each<[string, AttentionOptions, string[]]>([
    ["nothing", {}, ["012345", "012345", "012345", "012345"]],
    ["causal, lower-right", { causal: true }, ["012", "0123", "01234", "012345"]],
    ["causal, upper-left", { causal: "upper-left" }, ["0", "01", "012", "0123"]],
    ["causal from position 1", { causal: true, qOffset: 1 }, ["01", "012", "0123", "01234"]],
    ["causal from before the first key", { causal: true, qOffset: -2 }, ["", "", "0", "01"]],
    ["a window of one to the left, lower-right", { window: [1, 0] }, ["12", "23", "34", "45"]],
    ["a window open to the right", { window: [0, -1] }, ["2345", "345", "45", "5"]],
    ["a window open to the left", { window: [Infinity, 1] }, ["0123", "01234", "012345", "012345"]],
    ["a window around upper-left positions", { window: [1, 1], qOffset: 0 }, ["01", "012", "123", "234"]],
    ["a causal window", { window: [1, 3], causal: "upper-left" }, ["0", "01", "12", "23"]],
    [
      "blocks of two queries and three keys",
      { blocks: { size: [2, 3], keep: Uint8Array.of(1, 0, 1, 1) } },
      ["012", "012", "012345", "012345"],
    ],
    [
      "blocks for all queries, causal",
      { blocks: { size: [9, 4], keep: { data: [false, true], shape: [2] } }, causal: true },
      ["", "", "4", "45"],
    ],
    ["four valid keys", { kvLengths: [4] }, ["0123", "0123", "0123", "0123"]],
    ["four valid keys, causal", { kvLengths: [4], causal: true }, ["0", "01", "012", "0123"]],
    ["two valid queries, causal", { qLengths: [2], causal: true }, ["01234", "012345", "", ""]],
    ["no valid key", { kvLengths: [0] }, ["", "", "", ""]],
    ["two packed sequences", { cuSeqlensQ: [0, 1, 4], cuSeqlensK: [0, 2, 6] }, ["01", "2345", "2345", "2345"]],
    [
      "two packed sequences, causal",
      { cuSeqlensQ: [0, 2, 4], cuSeqlensK: [0, 3, 6], causal: true },
      ["01", "012", "34", "345"],
    ],
    [
      "two packed sequences, causal from their first keys",
      { cuSeqlensQ: [0, 2, 4], cuSeqlensK: [0, 3, 6], causal: "upper-left" },
      ["0", "01", "3", "34"],
    ],
    [
      "packed sequences with an offset each",
      { cuSeqlensQ: Int32Array.of(0, 1, 4), cuSeqlensK: [0, 1, 6], causal: true, qOffset: [5, -1] },
      ["0", "", "1", "12"],
    ],
    [
      "packed sequences with a window",
      { cuSeqlensQ: [0, 1, 4], cuSeqlensK: [0, 3, 6], window: [1, 0], qOffset: 0 },
      ["0", "3", "34", "45"],
    ],
    [
      "packed sequences, some of them empty",
      { cuSeqlensQ: [0, 0, 2, 2, 4], cuSeqlensK: [0, 2, 2, 5, 6] },
      ["", "", "5", "5"],
    ],
    ["a bias shorter than the window", { window: [9, 9], bias: zeros(3) }, ["012", "012", "012", "012"]],
  ])("%s leaves the right keys", async (_, options, expected) => {
    expect(await seen(options)).toEqual(expected);
  });

  test("lengths and offsets are each batch entry's own", async () => {
    expect(await seen({ kvLengths: [1, 3], qOffset: [0, 1], causal: true }, 2)).toEqual(
      ["0", "0", "0", "0"].concat(["01", "012", "012", "012"]),
    );
  });

  test("packed keys have the queries' sequence boundaries unless cuSeqlensK is given", async () => {
    const [q, x] = [zeros(2, 5, 2), { data: Float32Array.from({ length: 20 }, (_, i) => i), shape: [2, 5, 2] }];
    const given = await heed.attention(q, x, x, { cuSeqlensQ: [0, 2, 5], cuSeqlensK: [0, 2, 5] });
    const { output } = await heed.attention(q, x, x, { cuSeqlensQ: [0, 2, 5] });
    expect(output).toEqual(given.output);
    // The second sequence of the first head holds 4 to 9.
    expect([...output.data.subarray(0, 6)]).toEqual([1, 2, 1, 2, 6, 7].map((mean) => expect.closeTo(mean, 5)));
  });

  test("dropout makes zeros and scales the other weights up, the same every time", async () => {
    const [q, x] = [zeros(1, 2, 64, 2), { data: new Float32Array(512).fill(3), shape: [1, 2, 128, 2] }];
    const call = (seed: number): Promise<{ weights: { data: Float32Array }; output: { data: Float32Array } }> =>
      heed.attention(q, x, x, { dropout: { p: 0.25, seed }, return: { weights: true } });
    const { weights, output } = await call(7);
    const kept = weights.data.filter((weight) => weight !== 0);
    for (const weight of kept) expect(weight).toBeCloseTo(1 / 96, 8);
    // Six standard deviations of 16384 samples.
    expect(Math.abs(kept.length / weights.data.length - 0.75)).toBeLessThan(6 * Math.sqrt((0.25 * 0.75) / 16384));
    const first = weights.data.subarray(0, 128).reduce((sum, weight) => sum + weight, 0);
    expect(output.data[0]).toBeCloseTo(3 * first, 5);
    expect(await call(7)).toEqual(await call(7));
    expect((await call(8)).weights.data).not.toEqual(weights.data);
  });

  test("a dropout of 0 needs no seed and drops nothing", async () => {
    const x = { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] };
    const plain = await heed.attention(x, x, x);
    expect(await heed.attention(x, x, x, { dropout: { p: 0 } })).toEqual(plain);
    expect((await heed.attention(x, x, x, { dropout: { p: 1, seed: 1 } })).output.data).toEqual(new Float32Array(4));
  });

  test("a sink adds to the denominator and has no value", async () => {
    const value = { data: Float32Array.of(1, 1, 1), shape: [1, 3, 1] };
    const { output, weights, lse, entropy } = await heed.attention(zeros(2, 1, 1), value, value, {
      heads: 2,
      scale: 1,
      sinks: [Math.log(2), -Infinity],
      ...EVERYTHING,
    });
    expect([...weights.data]).toEqual([0.2, 0.2, 0.2, 1 / 3, 1 / 3, 1 / 3].map((weight) => expect.closeTo(weight, 6)));
    expect([...output.data]).toEqual([expect.closeTo(0.6, 6), expect.closeTo(1, 6)]);
    expect([...lse.data]).toEqual([expect.closeTo(Math.log(5), 6), expect.closeTo(Math.log(3), 6)]);
    expect(entropy.data[0]).toBeCloseTo(-0.6 * Math.log(0.2), 6);
  });

  test("a row without a key gives zeros whatever its sink", async () => {
    const q = zeros(1, 1, 1, 2);
    const { output, lse } = await heed.attention(q, q, q, { sinks: [3], kvLengths: [0], ...EVERYTHING });
    expect([...output.data, ...lse.data]).toEqual([0, 0, -Infinity]);
  });

  test("ALiBi falls by its slope with the distance from the query's position", async () => {
    const { scores } = await heed.attention(zeros(2, 2, 1), zeros(2, 3, 1), zeros(2, 3, 1), {
      alibiSlopes: [1, 0.5],
      ...EVERYTHING,
    });
    // Lower-right: the queries are at positions 1 and 2.
    expect([...scores.data]).toEqual(
      [-1, 0, -1, -2, -1, 0, -0.5, 0, -0.5, -1, -0.5, 0].map((s) => expect.closeTo(s, 6)),
    );
  });

  test("scores are returned as they are at each stage, and padding has raw scores too", async () => {
    const q = { data: Float32Array.of(10), shape: [1, 1] };
    const k = { data: Float32Array.of(1, -1, 0.5), shape: [3, 1] };
    const options = { scale: 1, softcap: 5, bias: { data: Float32Array.of(1, 2, 3), shape: [3] }, kvLengths: [2] };
    const at = async (stage: "raw" | "capped" | "masked"): Promise<number[]> => {
      const { scores } = await heed.attention(q, k, k, { ...options, return: { scores: stage } });
      return [...scores.data];
    };
    const capped = 5 * Math.tanh(2);
    expect(await at("raw")).toEqual([10, -10, 5].map((score) => expect.closeTo(score, 5)));
    expect(await at("capped")).toEqual([capped, -capped, 5 * Math.tanh(1)].map((score) => expect.closeTo(score, 5)));
    expect(await at("masked")).toEqual([expect.closeTo(capped + 1, 5), expect.closeTo(2 - capped, 5), -Infinity]);
  });

  test("padded keys and values are never read into a result, NaN or not", async () => {
    const q = zeros(1, 1, 2, 2);
    const k = { data: Float32Array.of(1, 1, Number.NaN, Number.NaN), shape: [1, 1, 2, 2] };
    const { output, entropy } = await heed.attention(q, k, k, { kvLengths: [1], ...EVERYTHING });
    expect([...output.data, ...entropy.data]).toEqual([1, 1, 1, 1, 0, 0]);
  });
});
