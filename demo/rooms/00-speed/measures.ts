// What is timed: calls of attention at a few sizes and in each way that runs here, a token of language models, steps of training.

import type { CreateOptions, Heed } from "heed";
import { counted } from "../../src/brought/arrays.js";
import { randoms } from "../../src/engine/fastest.js";
import { exact } from "../../src/ui/numbers.js";

/** Ready to be timed, and what it holds. */
interface Opened {
  readonly run: () => Promise<unknown>;
  readonly end: () => void;
}

export interface Measure {
  /** In addresses. */
  readonly key: string;
  readonly name: string;
  /** What so many milliseconds come to. */
  readonly rate: (ms: number) => string;
  readonly open: () => Promise<Opened>;
}

interface Group {
  readonly title: string;
  readonly measures: readonly Measure[];
}

const [HEADS, WIDTH] = [4, 64];

/** `options`: of the engine; none: as heed chooses by itself. */
function attention(key: string, name: string, queries: number, keys: number, options?: CreateOptions): Measure {
  return {
    key,
    name,
    // The multiplications and additions of both products.
    rate: (ms) => `${exact((4 * HEADS * queries * keys * WIDTH) / ms / 1e6, 1)} GFLOP/s`,
    open: async () => {
      const { createHeed } = await import("heed");
      const heed = await createHeed(options);
      const make = randoms();
      const tensor = (rows: number) => {
        const { data, shape } = make(1, HEADS, rows, WIDTH);
        return heed.tensor(data, shape);
      };
      const [q, k, v] = [await tensor(queries), await tensor(keys), await tensor(keys)];
      return { run: () => heed.attention(q, k, v), end: () => heed.dispose() };
    },
  };
}

function waysOf(cores: number): readonly Measure[] {
  const threads = cores > 1 ? [1, Math.min(8, cores)] : [1];
  const names = { simd: "SIMD", relaxed: "relaxed SIMD" } as const;
  const wasm = threads.flatMap((count) =>
    (["simd", "relaxed"] as const).map((variant) => {
      const name = `${names[variant]}, ${counted(count, "thread")}`;
      return way(`${variant.charAt(0)}${count}`, name, { backend: "wasm", variant, threads: count });
    }),
  );
  return [...wasm, way("gpu", "WebGPU", { backend: "webgpu" })];
}

const way = (key: string, name: string, options: CreateOptions): Measure => attention(key, name, 1024, 1024, options);

const [VOCABULARY, CONTEXT] = [4096, 256];

async function gpt2(engine: Heed, dim: number, layers: number, vocabulary: number) {
  const { GPT2Model } = await import("heed/layers");
  const sizes = { n_embd: dim, n_layer: layers, n_head: dim / 32, n_positions: CONTEXT, vocab_size: vocabulary };
  return new GPT2Model({ model_type: "gpt2", ...sizes }, { engine }).init({ seed: 1 });
}

/** After a prompt of 64 tokens, which stays the same. */
function token(key: string, name: string, dim: number, layers: number): Measure {
  return {
    key,
    name,
    rate: (ms) => `${exact(1000 / ms, 0)} tokens/s`,
    open: async () => {
      const { createHeed } = await import("heed");
      const heed = await createHeed();
      const model = await gpt2(heed, dim, layers, VOCABULARY);
      const sizes = { kvHeads: dim / 32, headDim: 32, maxLength: CONTEXT };
      const caches = await Promise.all(Array.from({ length: layers }, () => heed.createCache(sizes)));
      const prompt = Int32Array.from({ length: 64 }, (_, at) => at);
      await model.forward({ data: prompt, shape: [1, 64] }, { caches, last: true });
      const run = async () => {
        await model.forward({ data: Int32Array.of(1), shape: [1, 1] }, { caches, last: true });
        for (const cache of caches) cache.truncate(64);
      };
      return { run, end: () => heed.dispose() };
    },
  };
}

const [ROWS, LENGTH] = [16, 64];

/** Of 16 rows of 64 tokens, by AdamW. */
function step(key: string, name: string, dim: number, layers: number): Measure {
  return {
    key,
    name,
    rate: (ms) => `${exact((1000 * ROWS * LENGTH) / ms, 0)} tokens/s`,
    open: async () => {
      const [{ createHeed }, { AdamW, crossEntropy, gradients }] = await Promise.all([
        import("heed"),
        import("heed/train"),
      ]);
      const heed = await createHeed();
      const model = await gpt2(heed, dim, layers, 256);
      const optimizer = new AdamW(model, { learningRate: 1e-4 });
      const data = Int32Array.from({ length: ROWS * LENGTH }, (_, at) => (at * at) % 256);
      const targets = Int32Array.from(data, (_, at) => data[at + 1] ?? 0);
      const run = async () => {
        await gradients(model, async (pass) => {
          const { logits } = await model.forward({ data, shape: [ROWS, LENGTH] }, { pass });
          return { loss: await crossEntropy(logits, targets, { pass }) };
        });
        await optimizer.step();
      };
      return { run, end: () => heed.dispose() };
    },
  };
}

export const groupsOf = (cores: number): readonly Group[] => [
  {
    title: `Attention, ${HEADS} heads of width ${WIDTH}`,
    measures: [
      attention("a512", "512 tokens", 512, 512),
      attention("a2048", "2,048 tokens", 2048, 2048),
      attention("one", "one query, 4,096 keys", 1, 4096),
    ],
  },
  { title: "Attention, 1,024 tokens, in each way", measures: waysOf(cores) },
  {
    title: "A token of a language model",
    measures: [token("t2", "1.7 million parameters", 128, 6), token("t12", "12 million parameters", 384, 6)],
  },
  {
    title: "A step of training, 16 rows of 64 tokens",
    measures: [step("l04", "0.4 million parameters", 96, 3), step("l27", "2.8 million parameters", 192, 6)],
  },
];
