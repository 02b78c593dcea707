// A model of heed/layers with random weights, or a part of its work alone: as many products, calls of attention, or norms, embeddings and
// rotations of the same sizes as a pass has, one after the other, or the copy of its result.

import type { Heed, KVCache, Tensor } from "heed";
import type { Weights as StoredWeights } from "heed/layers";
import { normalNumbers } from "../inputs.js";
import {
  configOf,
  idsOf,
  type ModelShape,
  matricesOf,
  modelShape,
  parametersOf,
  Weights,
  weightBytes,
} from "../model-shapes.js";
import type { Peer, Setup } from "../peer.js";

type Layers = typeof import("heed/layers");

interface Scene {
  readonly shape: ModelShape;
  readonly weights: Weights;
  /** The format in which the model keeps them. */
  readonly stored: StoredWeights | undefined;
  readonly engine: Heed;
  readonly layers: Layers;
}

/** One pass, or its part. */
type Pass = () => Promise<Float32Array>;

export async function open({ threads, options }: Setup): Promise<Peer> {
  const { name = "", dist = "dist", part = "all", size, variant } = options;
  const { createHeed }: typeof import("heed") = await import(`/${dist}/index.js`);
  const layers: Layers = await import(`/${dist}/layers.js`);
  const engine = await createHeed({
    backend: "wasm",
    threads,
    ...(variant === "simd" && { variant }),
  });
  const shape = modelShape(name, size === "small");
  const stored = options.weights as StoredWeights | undefined;
  const make = PARTS[part];
  if (make === undefined) throw new Error(`a pass has no part ${part}`);
  let pass: Pass | null = null;
  return {
    about: { ...engine.capabilities, weightBytes: weightBytes(shape) },
    layout: "bnhd",

    async prepare() {
      pass = await make({ shape, weights: new Weights(shape), stored, engine, layers });
      const result = await pass();
      if (!result.every(Number.isFinite)) throw new Error("a result has numbers that are not finite");
    },

    async run() {
      if (pass === null) throw new Error("nothing was prepared");
      for (let left = Number(options.run ?? 1); left > 1; left--) await pass();
      return pass();
    },

    async release() {},
  };
}

const PARTS: Readonly<Record<string, (scene: Scene) => Promise<Pass>>> = {
  async all({ shape, weights, stored, engine, layers }) {
    const { batch, tokens, model } = shape;
    const ids = { data: idsOf(shape), shape: [batch, tokens] };
    const parameters = parametersOf(shape, weights);
    if (model === "bert") {
      const bert = new layers.BertModel(configOf(shape), { engine }).load(parameters, stored && { weights: stored });
      return async () => (await bert.forward(ids)).hidden.data;
    }
    const Model = { gpt2: layers.GPT2Model, llama: layers.LlamaModel, qwen2: layers.Qwen2Model }[model];
    const causal = new Model(configOf(shape), { engine }).load(parameters, stored && { weights: stored });
    const caches = await filledCaches(shape, engine);
    return async () => {
      await makeRoom(caches, shape);
      return (await causal.forward(ids, { caches, last: true })).logits.data;
    };
  },

  async products({ shape, weights, engine, layers }) {
    const { layers: count, batch, tokens, words, dim, model } = shape;
    const linear = ([outFeatures, inFeatures]: readonly [number, number]) =>
      new layers.Linear({ inFeatures, outFeatures, bias: false, engine }).load({
        weight: weights.tensor(outFeatures, inFeatures),
      });
    const blocks = Array.from({ length: count }, () => matricesOf(shape).map(linear)).flat();
    const inputs = new Map(blocks.map(({ inFeatures }) => [inFeatures, inputOf(engine, batch * tokens, inFeatures)]));
    const head = model === "bert" ? [] : [[linear([words, dim]), inputOf(engine, batch, dim)] as const];
    const calls = [...blocks.map((one) => [one, inputs.get(one.inFeatures)] as const), ...head];
    return async () => {
      for (const [one, x] of calls) if (x !== undefined) (await one.forward(x, { keep: true })).dispose();
      return new Float32Array();
    };
  },

  async attention({ shape, engine }) {
    const { layers: count, batch, tokens, dim, heads, kvHeads, model } = shape;
    const narrow = (dim / heads) * kvHeads;
    const input = (width: number) => inputOf(engine, batch, tokens, width);
    const [query, key, value] = [input(dim), input(narrow), input(narrow)];
    const options = { layout: "packed", heads, kvHeads, keep: true } as const;
    const caches = model === "bert" ? [] : await filledCaches(shape, engine);
    return async () => {
      await makeRoom(caches, shape);
      for (let layer = 0; layer < count; layer++) {
        const cached = caches[layer] === undefined ? {} : { cache: caches[layer], causal: true };
        (await engine.attention(query, key, value, { ...options, ...cached })).output.dispose();
      }
      return new Float32Array();
    };
  },

  async rest({ shape, weights, engine, layers }) {
    const { layers: count, batch, tokens, dim, heads, kvHeads, words, model } = shape;
    const isLlama = model === "llama";
    const norms = Array.from({ length: 2 * count + 1 }, () => {
      const [weight, bias] = [weights.tensor(dim), weights.tensor(dim)];
      if (isLlama) return new layers.RMSNorm({ shape: dim, engine }).load({ weight });
      return new layers.LayerNorm({ shape: dim, engine }).load({ weight, bias });
    });
    const table = new layers.Embedding({ count: words, dim, engine }).load({ weight: weights.tensor(words, dim) });
    const ids = idsOf(shape);
    const input = (width: number) => inputOf(engine, batch, tokens, width);
    const x = input(dim);
    const turned = isLlama ? [[x, heads] as const, [input((dim / heads) * kvHeads), kvHeads] as const] : [];
    return async () => {
      (await table.forward(ids, { keep: true })).dispose();
      for (const norm of norms) (await norm.forward(x, { keep: true })).dispose();
      for (let layer = 0; layer < count; layer++) {
        for (const [one, own] of turned)
          (await engine.rope(one, { layout: "packed", heads: own, keep: true })).dispose();
      }
      return new Float32Array();
    };
  },

  async copying({ shape, engine }) {
    const { batch, tokens, dim, words, model } = shape;
    const result = engine.zeros(model === "bert" ? [batch, tokens, dim] : [batch, words]);
    return async () => (await result.read()) as Float32Array;
  },
};

const inputOf = (engine: Heed, ...shape: number[]): Tensor =>
  engine.tensor(
    normalNumbers(
      shape.reduce((total, size) => total * size, 1),
      2,
    ),
    shape,
  );

/** A cache for each layer, with the tokens before the pass. */
async function filledCaches(shape: ModelShape, engine: Heed): Promise<KVCache[]> {
  const { layers, batch, dim, heads, kvHeads, past, tokens } = shape;
  const headDim = dim / heads;
  const zeros = { data: new Float32Array(batch * kvHeads * past * headDim), shape: [batch, kvHeads, past, headDim] };
  return Promise.all(
    Array.from({ length: layers }, async () => {
      const cache = await engine.createCache({ batch, kvHeads, headDim, maxLength: 2 * (past + tokens) });
      await cache.append(zeros, zeros);
      return cache;
    }),
  );
}

/** Tokens that follow one by one before the caches are as they were at first. */
const RUN = 64;

async function makeRoom(caches: readonly KVCache[], { past, tokens }: ModelShape): Promise<void> {
  const [first] = caches;
  if (first === undefined || first.length + tokens <= Math.min(first.maxLength, past + Math.max(tokens, RUN))) return;
  await Promise.all(caches.map((cache) => cache.truncate(past)));
}
