// A mixed load: a round does everything that a long-lived page does, and leaves nothing behind. Sizes are drawn from a seed.

import { createHeed, HeedError } from "heed";
import { Linear, LlamaModel, quantize } from "heed/layers";
import { AdamW, crossEntropy, gradients } from "heed/train";
import { Random } from "../numerics/random.js";

const CONFIG = {
  model_type: "llama",
  vocab_size: 64,
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 128,
  tie_word_embeddings: true,
};

/** @typedef {import("heed").Heed} Heed */
/** @typedef {{ heed: Heed, random: Random, draw: (...shape: number[]) => { data: Float32Array, shape: number[] } }} Scene */

/** Of what each round does all. @type {Readonly<Record<string, (scene: Scene) => Promise<void>>>} */
const PARTS = {
  attention: async ({ heed, random, draw }) => {
    const [heads, queries, keys, dim] = [4, 1 + random.below(96), 1 + random.below(300), 8 * (1 + random.below(8))];
    const [q, k, v] = [draw(heads, queries, dim), draw(2, keys, dim), draw(2, keys, dim)];
    const options = { causal: random.next() < 0.5, dropout: { p: 0.1, seed: random.below(100) } };
    await heed.attention(q, k, v, { ...options, return: { weights: true, lse: true, entropy: true } });
    heed.attentionSync(q, k, v, options);
    const kept = heed.tensor(k.data, k.shape);
    const { output } = await heed.attention(q, kept, v, { ...options, keep: true });
    await output.read();
    output.dispose();
    kept.dispose();
  },
  aborted: async ({ heed, random, draw }) => {
    const [q, k] = [draw(4, 256, 32), draw(4, 512, 32)];
    const controller = new AbortController();
    const call = heed.attention(q, k, k, { signal: controller.signal });
    setTimeout(() => controller.abort(), random.below(3));
    await unless(["aborted"], call);
  },
  refused: async ({ heed, draw }) => {
    await unless(["shape"], heed.attention(draw(1, 2, 8), draw(1, 3, 4), draw(1, 3, 4)));
  },
  caches: async ({ heed, random, draw }) => {
    for (const dtype of /** @type {const} */ (["f32", "f16", "i8"])) {
      const cache = await heed.createCache({ batch: 2, kvHeads: 2, headDim: 16, maxLength: 400, dtype });
      const tokens = 1 + random.below(200);
      await cache.append(draw(2, 2, tokens, 16), draw(2, 2, tokens, 16));
      const one = draw(2, 2, 1, 16);
      for (let step = 0; step < 8; step++) await heed.attention(draw(2, 4, 1, 16), one, one, { cache });
      await cache.reorder([1, 1]);
      cache.truncate(random.below(tokens));
      await heed.attention(draw(2, 4, 1, 16), one, one, { cache });
      cache.dispose();
    }
    const ring = await heed.createCache({ kvHeads: 2, headDim: 16, window: 100 });
    for (let step = 0; step < 6; step++) await ring.append(draw(2, 60, 16), draw(2, 60, 16));
    ring.dispose();
  },
  others: async ({ heed, random, draw }) => {
    const [length, rule] = [1 + random.below(120), random.next() < 0.5 ? "linear" : "delta"];
    const x = draw(2, length, 16);
    await heed.linearAttention(x, x, x, { rule: /** @type {"linear" | "delta"} */ (rule) });
    await heed.rope(x);
    const { backward } = await heed.attentionVjp(x, x, x, { causal: true });
    await backward(x);
    (await heed.attentionVjp(x, x, x)).release();
  },
  model: async ({ heed, random }) => {
    const model = new LlamaModel(CONFIG, { engine: heed }).init({ seed: random.below(1000) });
    const cache = await heed.createCache({ kvHeads: 2, headDim: 16, maxLength: 64 });
    const other = await heed.createCache({ kvHeads: 2, headDim: 16, maxLength: 64 });
    await model.forward([1, 2, 3, 4], { caches: [cache, other] });
    for (let token = 0; token < 12; token++) await model.forward([random.below(64)], { caches: [cache, other] });
    await model.forward([5, 6, 7], { attentions: true });
    await quantize(model, "int8").forward([1, 2, 3]);
    for (const one of [cache, other, model]) one.dispose();
  },
  training: async ({ heed, random }) => {
    const model = new LlamaModel(CONFIG, { engine: heed }).init({ seed: random.below(1000) });
    const optimizer = new AdamW(model, { learningRate: 1e-3 });
    const tokens = Array.from({ length: 2 }, () => Array.from({ length: 16 }, () => random.below(64)));
    const step = (/** @type {AbortSignal | undefined} */ signal) =>
      gradients(
        model,
        async (pass) => {
          const { logits } = await model.forward(tokens, { pass });
          return { loss: crossEntropy(logits, tokens, { pass }) };
        },
        { signal },
      );
    for (let count = 0; count < 3; count++) {
      await step(undefined);
      await optimizer.step();
    }
    const controller = new AbortController();
    setTimeout(() => controller.abort(), random.below(8));
    await unless(["aborted"], step(controller.signal));
    optimizer.dispose();
    model.dispose();
  },
  engines: async ({ random, draw }) => {
    const heed = await createHeed({ backend: "wasm", threads: 1 + random.below(2), offload: random.next() < 0.7 });
    const layer = new Linear({ inFeatures: 32, outFeatures: 32, engine: heed }).init({ seed: 1 });
    const x = draw(40, 32);
    await heed.attention(x, x, x);
    const begun = [heed.attention(x, x, x), layer.forward(x), heed.linearAttention(x, x, x, { rule: "linear" })];
    const calls = begun.map((call) => unless(["disposed"], call));
    if (random.next() < 0.5) await calls[0];
    heed.dispose();
    await Promise.all(calls);
  },
};

/** Waits for a call, which may end with such an error. @param {readonly string[]} codes @param {Promise<unknown>} call */
async function unless(codes, call) {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof HeedError) || !codes.includes(error.code)) throw error;
  }
}

/** Does everything once, in an order of the seed's. @param {Heed} heed @param {number} seed */
export async function round(heed, seed) {
  const random = new Random(seed);
  const draw = (/** @type {number[]} */ ...shape) => ({
    data: random.numbers(shape.reduce((a, b) => a * b, 1)),
    shape,
  });
  const parts = Object.values(PARTS);
  for (let left = parts.length; left > 0; left--) {
    const [part] = parts.splice(random.below(left), 1);
    await part?.({ heed, random, draw });
  }
}
