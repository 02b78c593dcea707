// Attention, linear attention and positions in a pass: gradients of all that learns against central differences of the double-precision
// reference, and values and gradients against PyTorch's.

import { afterAll, describe, expect, test } from "vitest";
import { abs, add, div, exp, mul, sub, table, tanh } from "../../../web/src/expr/index.js";
import type { Tensor } from "../../../web/src/index.js";
import { Linear } from "../../../web/src/layers/index.js";
import {
  type ReferenceExpr,
  type ReferenceOptions,
  attention as reference,
  linearAttention as referenceLinear,
  rope as referenceRope,
} from "../../../web/src/reference/index.js";
import { gradients, type Pass, type PassAttentionOptions } from "../../../web/src/train/index.js";
import { FEW_KINDS, openKind } from "../../support/engines.js";
import { type PackedTensor, readFixture, unpack, unpackAll, worstDifference } from "../../support/fixtures.js";
import { linearCall, RULES } from "../../support/linear.js";
import { Random } from "../../support/random.js";

interface Plain {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

type Doubles = { readonly data: Float64Array; readonly shape: readonly number[] };
type Given<T> = Readonly<Record<string, T>>;

const draw = (random: Random, ...shape: number[]): Plain => ({
  data: random.floats(shape.reduce((a, b) => a * b, 1)),
  shape,
});

const must = <T>(given: Given<T>, name: string): T => {
  const found = given[name];
  if (found === undefined) throw new Error(`the scene has ${name}`);
  return found;
};

/** tests/fixtures/learnt.py. */
const torch = readFixture("learnt.json") as Readonly<
  Record<
    string,
    Readonly<Record<"given" | "gradients", Given<PackedTensor>> & Record<"output" | "ofOutput", PackedTensor>>
  >
>;

/** Scores, softmax, the sums of values, and what comes before and after; and the way back through all of them. */
const DEPTH = 8;

/** What the fixture computed, of tensors of a pass. */
const LIKE_TORCH: Given<(pass: Pass, given: Given<Tensor>) => Promise<Tensor>> = {
  options: (pass, { bias, sinks, temperature, slopes, ...qkv }) => {
    return attend(pass, qkv, { bias, sinks, temperature, alibiSlopes: slopes, softcap: 2, causal: true });
  },
  sigmoid: (pass, { bias, ...qkv }) => attend(pass, qkv, { bias, normalize: "sigmoid" }),
  general: (pass, { w, ...qkv }) => attend(pass, qkv, { score: { type: "general", w } }),
  additive: (pass, { wq, wk, b, a, ...qkv }) => attend(pass, qkv, { score: { type: "additive", wq, wk, b, v: a } }),
  gated: (pass, { w, b, ...qkv }) => attend(pass, qkv, { score: { type: "gated", w, b } }),
  rbf: (pass, { bandwidth, ...qkv }) => attend(pass, qkv, { score: { type: "rbf", bandwidth } }),
  cap: (pass, { cap, ...qkv }) => {
    const caps = table(cap as Tensor);
    return attend(pass, qkv, { scoreMod: ({ score, h }) => mul(caps.at(h), tanh(div(score, caps.at(h)))) });
  },
  decay: (pass, { rate, ...qkv }) => {
    const rates = table(rate as Tensor);
    const scoreMod: PassAttentionOptions["scoreMod"] = ({ score, h, q, k }) =>
      sub(score, mul(exp(rates.at(h)), abs(sub(add(q, KEYS - QUERIES), k))));
    return attend(pass, qkv, { scoreMod, causal: true });
  },
  mixture: async (pass, { mixture, ...qkv }) => {
    const shares = table(await pass.softmax(mixture as Tensor));
    const scoreMod: PassAttentionOptions["scoreMod"] = ({ score, h }) =>
      add(mul(shares.at(h, 0), score), mul(shares.at(h, 1), tanh(score)));
    return attend(pass, qkv, { scoreMod });
  },
  weights: (pass, { gain, ...qkv }) => {
    const gains = table(gain as Tensor);
    return attend(pass, qkv, { probMod: ({ prob, h, k }) => mul(prob, gains.at(h, k)) });
  },
  t5: async (pass, { table: buckets, ...qkv }) => {
    const rule = { length: QUERIES, keyLength: KEYS, maxDistance: 10 };
    return attend(pass, qkv, { bias: await pass.relativeBias(buckets as Tensor, rule) });
  },
  // No gradient goes through the weights that attention returns, so those of Shaw's values are made of small operations.
  shaw: async (pass, { q, k, v, ofKeys, ofValues }) => {
    const places = Array.from({ length: QUERIES * KEYS }, (_, at) => {
      const apart = (at % KEYS) - Math.floor(at / KEYS) - (KEYS - QUERIES);
      return Math.min(2, Math.max(-2, apart)) + 2;
    });
    /** For each query, vectors of the heads [B, L, H, D], to be multiplied by those of its distances, [L, S, D]. */
    const byQuery = (x: Tensor | Promise<Tensor>) => pass.transpose(x, [0, 2, 1, 3]);
    const ofDistance = (of: Tensor) => pass.gather(of, { data: places, shape: [QUERIES, KEYS] });
    const products = pass.matmul(byQuery(q as Tensor), ofDistance(ofKeys as Tensor), { transposeB: true });
    const bias = await pass.mul(byQuery(products), DIM ** -0.5);
    const output = attend(pass, { q, k, v } as Given<Tensor>, { bias });
    const scores = pass.mul(pass.matmul(q as Tensor, k as Tensor, { transposeB: true }), DIM ** -0.5);
    const weights = pass.softmax(pass.add(scores, bias));
    return pass.add(output, byQuery(pass.matmul(byQuery(weights), ofDistance(ofValues as Tensor))));
  },
  rope: async (pass, { q, k, v }) => {
    const turned = await pass.rope(q as Tensor, { base: 100, positions: KEYS - QUERIES });
    const keys = await pass.rope(k as Tensor, { base: 100 });
    return attend(pass, { q: turned, k: keys, v: v as Tensor }, { causal: true });
  },
  ...Object.fromEntries(
    RULES.map((rule) => [
      `linear ${rule}`,
      async (pass: Pass, { q, k, v, normaliser, ...given }: Given<Tensor>) => {
        const { state: numbers, ...rest } = given;
        const state = normaliser ? pass.concat([numbers as Tensor, normaliser], { axis: 3 }) : numbers;
        const options = { rule, ...rest, state, ...(rule === "elu" && { causal: true }) };
        const made = await pass.linearAttention(q as Tensor, k as Tensor, v as Tensor, options);
        return pass.concat([pass.reshape(made.output, [-1]), pass.reshape(made.state, [-1])]);
      },
    ]),
  ),
};

const [QUERIES, KEYS, DIM] = [3, 5, 4];

async function attend(pass: Pass, { q, k, v }: Given<Tensor>, options: PassAttentionOptions): Promise<Tensor> {
  return (await pass.attention(q as Tensor, k as Tensor, v as Tensor, options)).output as Tensor;
}

test("every case of the fixture is computed", () => {
  expect(Object.keys(LIKE_TORCH).sort()).toEqual(Object.keys(torch).sort());
});

describe.each(FEW_KINDS)("what learns, $variant, $worker worker", async (kind) => {
  const engine = await openKind(kind);
  afterAll(() => engine.dispose());
  const model = new Linear({ inFeatures: 1, outFeatures: 1, engine }).init();

  /** Compares the gradients of a weighted sum of the output, of whatever is given. */
  async function check(
    random: Random,
    given: Given<Plain>,
    wanted: (given: Given<Doubles>) => ArrayLike<number>,
    forward: (pass: Pass, given: Given<Tensor>) => Promise<Tensor>,
  ): Promise<void> {
    const doubles = Object.fromEntries(
      Object.entries(given).map(([name, { data, shape }]) => [name, { data: Float64Array.from(data), shape }]),
    );
    const output = wanted(doubles);
    const weights = random.floats(output.length);
    const loss = (): number => Array.from(wanted(doubles)).reduce((sum, one, at) => sum + one * (weights[at] ?? 0), 0);
    const { inputGradients, made } = await gradients(model, async (pass) => {
      const tensors: Record<string, Tensor> = {};
      for (const [name, one] of Object.entries(given)) tensors[name] = await pass.input(one);
      const made = await forward(pass, tensors);
      const all = await pass.sum(pass.mul(made, { data: weights, shape: made.shape }));
      return { loss: all, made };
    });
    const size = Math.max(1, ...Array.from(output, Math.abs));
    for (const [at, one] of made.data.entries()) {
      expect(Math.abs(one - (output[at] ?? Number.NaN)), `output at ${at}`).toBeLessThan(2 ** -18 * size);
    }
    const slopes = Object.entries(doubles).map(([name, { data }]) =>
      Array.from(data, (middle, place) => {
        const shifted = (by: number): number => {
          data[place] = middle + by;
          const made = loss();
          data[place] = middle;
          return made;
        };
        // The reference rounds numbers of scores to f32, in which a wide step is exact. Others must not step over kinks.
        const h = name.startsWith("score") ? 2 ** -8 : 1e-4;
        return (8 * (shifted(h) - shifted(-h)) - (shifted(2 * h) - shifted(-2 * h))) / (12 * h);
      }),
    );
    // Sums of some tens of terms, through a chain of a few roundings each, relative to the largest gradient of a scene.
    const bound = 2 ** -16 * Math.max(1, ...slopes.flat().map(Math.abs));
    for (const [at, name] of Object.keys(given).entries()) {
      const got = inputGradients[at]?.data ?? new Float32Array();
      for (const [place, slope] of (slopes[at] ?? []).entries()) {
        const about = `${name} at ${place}: ${got[place]} for ${slope}`;
        expect(Math.abs((got[place] ?? Number.NaN) - slope), about).toBeLessThan(bound);
      }
    }
  }

  test.each(Array.from({ length: 8 }, (_, seed) => seed))(
    "sinks, temperature, slopes, bias and tables, %i",
    async (seed) => {
      const random = new Random(4500 + seed);
      const [batch, groups, heads] = [2, random.pick([1, 2]), 2];
      const [queries, keys, dim] = [random.pick([1, 3, 5]), random.pick([5, 7]), 3];
      const given = {
        q: draw(random, batch, heads, queries, dim),
        k: draw(random, batch, groups, keys, dim),
        v: draw(random, batch, groups, keys, 2),
        bias: draw(random, heads, queries, keys),
        sinks: draw(random, heads),
        temperature: { data: Float32Array.of(0.5 + random.next()), shape: random.pick([[], [1]]) },
        slopes: draw(random, heads),
        gains: draw(random, heads, 2),
      };
      const plain: ReferenceOptions = random.pick<ReferenceOptions>([
        {},
        { causal: true },
        { causal: "upper-left" },
        { qOffset: [1, -2] },
        { kvLengths: [keys, keys - 2], qLengths: [queries, 1] },
      ]);
      // A gain by the head and by whether the key is the first one.
      const mod = (score: unknown, of: (h: unknown, k: unknown) => unknown, h: unknown, k: unknown): never =>
        add(score as never, mul(tanh(of(h, k) as never), 0.5, abs(sub(score as never, 0.25)) as never)) as never;
      await check(
        random,
        given,
        (of) => {
          const gains = must(of, "gains");
          const at = (...args: unknown[]): unknown => ({ type: "float", op: "at", args, table: gains });
          return reference(must(of, "q"), must(of, "k"), must(of, "v"), {
            ...plain,
            bias: must(of, "bias"),
            sinks: must(of, "sinks").data,
            temperature: must(of, "temperature").data[0],
            alibiSlopes: must(of, "slopes").data,
            scoreMod: ({ score, h, k }) => mod(score, at, h, k) as ReferenceExpr,
          }).output.data;
        },
        async (pass, { q, k, v, bias, sinks, temperature, slopes, gains }) => {
          if (!q || !k || !v || !gains) throw new Error("a scene has these");
          const gain = table(gains);
          const options = {
            ...(plain as object),
            bias,
            sinks,
            temperature,
            alibiSlopes: slopes,
            scoreMod: (of: { score: never; h: never; k: never }) =>
              mod(of.score, (h, key) => gain.at(h as never, key as never), of.h, of.k),
          };
          return (await pass.attention(q, k, v, options as object)).output as Tensor;
        },
      );
    },
  );

  test.each(["general", "additive", "gated", "rbf"] as const)("the parameters of score %s", async (type) => {
    const random = new Random(4600);
    const [heads, dim] = [2, 3];
    const shapes = {
      general: { w: [heads, dim, dim] },
      additive: { wq: [4, dim], wk: [4, dim], b: [4], v: [4] },
      gated: { w: [2 * dim], b: [heads] },
      rbf: { bandwidth: [heads] },
    }[type] as Given<readonly number[]>;
    const drawn = Object.entries(shapes).map(([name, shape]) => [`score ${name}`, draw(random, ...shape)] as const);
    for (const [name, { data }] of drawn)
      if (name === "score bandwidth") data.set(data.map((one) => 1 + Math.abs(one)));
    const given = {
      q: draw(random, heads, 3, dim),
      k: draw(random, heads, 5, dim),
      v: draw(random, heads, 5, 2),
      ...Object.fromEntries(drawn),
    };
    const scoreOf = (of: Given<unknown>): object => ({
      type,
      ...Object.fromEntries(Object.keys(shapes).map((name) => [name, of[`score ${name}`]])),
    });
    await check(
      random,
      given,
      (of) => {
        const bare = Object.fromEntries(
          Object.entries(of).map(([name, one]) => [name, one.shape.length === 1 ? one.data : one]),
        );
        const options = { score: scoreOf(bare) } as ReferenceOptions;
        return reference(must(of, "q"), must(of, "k"), must(of, "v"), options).output.data;
      },
      async (pass, of) => {
        const made = await pass.attention(must(of, "q"), must(of, "k"), must(of, "v"), {
          score: scoreOf(of),
        } as object);
        return made.output as Tensor;
      },
    );
  });

  test.each(RULES)("linear attention by rule %s, its state too", async (rule) => {
    const random = new Random(4700);
    const { query, key, value, options } = linearCall(random, rule, 3, true);
    const { decay, beta, state, ...rest } = options;
    const all = { query, key, value, ...(decay && { decay }), ...(beta && { beta }), ...(state && { state }) };
    const given = all as unknown as Given<Plain>;
    const optionsOf = <T>({ query: _q, key: _k, value: _v, ...others }: Given<T>): never =>
      ({ ...rest, ...others }) as never;
    await check(
      random,
      given,
      (of) => {
        const made = referenceLinear(must(of, "query"), must(of, "key"), must(of, "value"), optionsOf(of));
        return [...Array.from(made.output.data), ...Array.from(made.state.data)];
      },
      async (pass, of) => {
        const made = await pass.linearAttention(must(of, "query"), must(of, "key"), must(of, "value"), optionsOf(of));
        return pass.concat([pass.reshape(made.output, [-1]), pass.reshape(made.state, [-1])]);
      },
    );
  });

  test.each(Object.entries(torch))("%s: PyTorch's values and gradients", async (name, { given, ...wanted }) => {
    const { inputGradients, output } = await gradients(model, async (pass) => {
      const tensors: Record<string, Tensor> = {};
      for (const [name, one] of unpackAll(given)) tensors[name] = await pass.input(one);
      const output = await must(LIKE_TORCH, name)(pass, tensors);
      return { loss: await pass.sum(pass.mul(output, unpack(wanted.ofOutput))), output };
    });
    expect(worstDifference(output, unpack(wanted.output), DEPTH)).toBeLessThan(1);
    for (const [at, [name, gradient]] of [...unpackAll(wanted.gradients)].entries()) {
      expect(worstDifference(inputGradients[at], gradient, DEPTH), name).toBeLessThan(1);
    }
  });

  test("rotary embedding, and T5's bias", async () => {
    const random = new Random(4800);
    const options = { positions: [3, 1, 7], interleaved: true };
    await check(
      random,
      { x: draw(random, 2, 3, 4) },
      ({ x }) => referenceRope(x as Doubles, options).data,
      (pass, { x }) => pass.rope(x as Tensor, options),
    );
    const { relativeBias } = await import("../../../web/src/index.js");
    const rule = { length: 3, keyLength: 6, maxDistance: 9, bidirectional: true };
    const counted = { data: Float32Array.from({ length: 16 }, (_, at) => at), shape: [8, 2] };
    const places = relativeBias(counted, rule).data;
    await check(
      random,
      { table: draw(random, 8, 2) },
      ({ table }) => Float64Array.from(places, (place) => table?.data[place] ?? Number.NaN),
      (pass, { table }) => pass.relativeBias(table as Tensor, rule),
    );
  });
});
