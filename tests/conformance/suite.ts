// The conformance tests of one engine, which must be of the kind that it says: every covered case, sync and async, and all of flex attention, linear attention, rotary embedding, caches' tokens and norms. Run in
// Node and in Chromium alike.

import { folder, required, set } from "virtual:conformance";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromF16 } from "../../web/src/base/f16.js";
import type { Capabilities, HalfTensorLike, Heed, TensorLike } from "../../web/src/index.js";
import { LayerNorm, MLP, RMSNorm } from "../../web/src/layers/index.js";
import { tokens } from "../support/cached.js";
import { attentionCases, callOf, casesOf, firstDifference, whyNot } from "./onnx.js";
import { asWanted, computed, floatsOf, swiglu } from "./onnx-composed.js";
import { linearCaseOf, ropeCaseOf, scatterCaseOf } from "./onnx-extra.js";
import { flexCallOf, flexCases } from "./onnx-flex.js";
import { gatedCaseOf, normCaseOf } from "./onnx-layers.js";
import { OPERATORS } from "./operators.js";

const COUNTS = Object.fromEntries(Object.entries(OPERATORS).map(([op, { cases }]) => [op, cases]));

/** In single precision, exactly. */
function widened({ data, shape }: TensorLike | HalfTensorLike): TensorLike {
  if (data instanceof Float32Array) return { data, shape };
  if (data instanceof Uint16Array) return { data: fromF16(data), shape };
  throw new Error("a case holds floats, or the bits of halves");
}

/** [B, S, G * D] as [B, 1, S, G * D]. */
function packedSizes({ shape: [batch = 0, length = 0, width = 0] }: TensorLike): readonly number[] {
  return [batch, 1, length, width];
}

/** `kind`: what the engine must say of itself. */
export function conformanceSuite(name: string, open: () => Promise<Heed>, kind: Partial<Capabilities>): void {
  describe(name, () => {
    if (set === null) {
      test("sees ONNX's cases where they are demanded", () => {
        const counts = Object.entries(COUNTS).map(([op, count]) => `${count} of ${op}`);
        console.warn(
          `conformance: ONNX's cases could not be seen (${counts.join(", ")}): no ${folder} (HEED_CONFORMANCE names it)`,
        );
        expect(required, `HEED_CONFORMANCE_REQUIRED is 1 and ${folder} is missing`).toBe(false);
      });
      return;
    }
    const present = set;
    let heed: Heed;
    beforeAll(async () => {
      heed = await open();
    });
    afterAll(() => heed.dispose());
    test(`is of the kind ${JSON.stringify(kind)}, and no other`, () => {
      expect(heed.capabilities).toMatchObject(kind);
    });
    test("sees all cases, of these operators and no others", () => {
      const counts: Record<string, number> = {};
      for (const { op } of present.index.cases) counts[op] = (counts[op] ?? 0) + 1;
      expect(counts).toEqual(COUNTS);
    });
    test.each(attentionCases(present).filter((one) => whyNot(one) === null))("$name", async (one) => {
      const { query, key, value, options, stage, output, weights, scores } = callOf(one, present);
      const all = { ...options, keep: false, return: { weights: true, scores: stage ?? "raw" } } as const;
      for (const got of [await heed.attention(query, key, value, all), heed.attentionSync(query, key, value, all)]) {
        expect(firstDifference("output", got.output, output, present)).toBeNull();
        if (weights !== null) expect(firstDifference("weights", got.weights, weights, present)).toBeNull();
        if (scores !== null) expect(firstDifference("scores", got.scores, scores, present)).toBeNull();
      }
    });
    test.each(attentionCases(present).filter((one) => whyNot(one) === null))("$name, of a cache", async (one) => {
      const { query, key, value, options, output } = callOf(one, present);
      const layout = options.layout ?? "bhnd";
      const [keys, values] = [widened(key), widened(value)];
      const [batch = 0, , length = 0] = layout === "packed" ? packedSizes(keys) : keys.shape;
      const kvHeads = options.kvHeads ?? keys.shape[1] ?? 0;
      const dims = [keys, values].map(({ shape }) => (shape.at(-1) ?? 0) / (layout === "packed" ? kvHeads : 1));
      const [headDim = 0, valueDim = 0] = dims;
      const dtype = key.dtype ?? "f32";
      using cache = await heed.createCache({ batch, kvHeads, headDim, valueDim, maxLength: length, dtype });
      const past = Math.floor(length / 2);
      await cache.append(tokens(keys, layout, 0, past), tokens(values, layout, 0, past), { layout });
      const rest = [tokens(keys, layout, past, length), tokens(values, layout, past, length)] as const;
      const got = await heed.attention(query, ...rest, { ...options, keep: false, cache });
      expect(firstDifference("output", got.output, output, present)).toBeNull();
    });
    test.each(flexCases(present))("$name", async (one) => {
      const { tensors, options, output } = flexCallOf(one, present);
      const all = { ...options, keep: false, return: { lse: true } } as const;
      for (const got of [await heed.attention(...tensors, all), heed.attentionSync(...tensors, all)]) {
        expect(firstDifference("output", got.output, output, present)).toBeNull();
      }
    });
    test.each(casesOf(present, "LinearAttention"))("$name", async (one) => {
      const { tensors, options, output, state } = linearCaseOf(one, present);
      const got = await heed.linearAttention(...tensors, { ...options, keep: false });
      expect(firstDifference("output", got.output, output, present)).toBeNull();
      expect(firstDifference("state", got.state, state, present)).toBeNull();
    });
    test.each(casesOf(present, "RotaryEmbedding"))("$name", async (one) => {
      const { x, options, output } = ropeCaseOf(one, present);
      expect(firstDifference("output", await heed.rope(x, { ...options, keep: false }), output, present)).toBeNull();
    });
    test.each(casesOf(present, "TensorScatter"))("$name, by taking back what is written anew", async (one) => {
      const { past, update, indices, present: wanted } = scatterCaseOf(one, present);
      const [, kvHeads = 0, length = 0, valueDim = 0] = past.shape;
      const entry = (tensor: TensorLike, b: number): TensorLike => {
        const [, ...shape] = tensor.shape;
        const size = shape.reduce((product, count) => product * count, 1);
        return { data: tensor.data.slice(b * size, (b + 1) * size), shape: [1, ...shape] };
      };
      // Every key its own direction: the best of each is its value.
      const unit = Float32Array.from({ length: length * length }, (_, n) => (n % (length + 1) === 0 ? 1 : 0));
      const directions: TensorLike = { data: unit, shape: [1, kvHeads, length, length] };
      for (const [b, at] of indices.entries()) {
        using cache = await heed.createCache({ kvHeads, headDim: length, valueDim, maxLength: length });
        const append = (values: TensorLike, from: number): Promise<void> =>
          cache.append(tokens(directions, "bhnd", from, from + (values.shape[2] ?? 0)), values);
        await append(entry(past, b), 0);
        cache.truncate(at);
        await append(entry(update, b), at);
        await append(tokens(entry(past, b), "bhnd", cache.length, length), cache.length);
        const none = tokens(directions, "bhnd", 0, 0);
        const no = { data: new Float32Array(0), shape: [1, kvHeads, 0, valueDim] };
        const got = await heed.attention(directions, none, no, { cache, normalize: "hard", keep: false });
        expect(firstDifference("present", got.output, entry(wanted, b), present)).toBeNull();
      }
    });
    test.each(casesOf(present, "LayerNormalization", "RMSNormalization"))("$name", async (one) => {
      const { x, options, parameters, output } = normCaseOf(one, present);
      const { shape, epsilon } = options;
      const layer =
        one.op === "LayerNormalization"
          ? new LayerNorm({ ...options, engine: heed })
          : new RMSNorm({ shape, epsilon, engine: heed });
      expect(firstDifference("output", await layer.load(parameters).forward(x), output, present)).toBeNull();
    });
    test.each(casesOf(present, "SwiGLU"))("$name", async (one) => {
      const { x, options, parameters, outputOf, output } = gatedCaseOf(one, present);
      const layer = new MLP({ ...options, activation: "swiglu", engine: heed }).load(parameters);
      expect(firstDifference("output", outputOf(await layer.forward(x)), output, present)).toBeNull();
    });
    test.each([0.5, 1, 1.702])("SwiGLU with alpha %d is that of double precision", async (alpha) => {
      const [one] = casesOf(present, "SwiGLU");
      const [a, b] = [floatsOf(one?.inputs[0], present), floatsOf(one?.inputs[1], present)];
      const by = (x: number, at: number): number => (x / (1 + Math.exp(-alpha * x))) * (b.data[at] ?? Number.NaN);
      const wanted = { data: a.data.map(by), shape: a.shape };
      expect(firstDifference("output", await swiglu(heed, a, b, alpha), wanted, present)).toBeNull();
    });
    test.each(casesOf(present, "CausalConvWithState", "Softmax", "LogSoftmax"))("$name", async (one) => {
      const got = await computed(heed, one, present);
      for (const tensor of one.outputs) {
        if (tensor === null) continue;
        const { name } = tensor;
        const result = got[name];
        if (result === undefined) throw new Error(`${one.name}: nothing computes ${name}`);
        expect(firstDifference(name, asWanted(result, tensor), floatsOf(tensor, present), present)).toBeNull();
      }
    });
  });
}
