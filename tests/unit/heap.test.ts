// Long runs end with the memory that they began with: calls of every operation mixed, and the tokens of a model.

import { describe, expect, test } from "vitest";
import type { Heed } from "../../web/src/index.js";
import { GRU, LayerNorm, Linear, LlamaModel } from "../../web/src/layers/index.js";
import { AdamW, gradients, meanSquaredError } from "../../web/src/train/index.js";
import { cases, differentIndex, errorOf } from "../support/cases.js";
import { FEW_KINDS, openKind } from "../support/engines.js";
import { linearCall, RULES } from "../support/linear.js";
import { madeByTransformers } from "../support/model-files.js";
import { Random } from "../support/random.js";
import { ROPE_CALLS } from "../support/rope-cases.js";
import { drawnBy } from "../support/tensors.js";

const random = new Random(28);
const numbers = drawnBy(random);

/** Blocks with which the free part of a heap is measured. A block and what the allocator adds take 16 KiB. */
const BLOCK = 4096 - 16;

/** What may be lost to the places where blocks happen to lie: 13 bytes each for 10,000 calls. */
const SLACK = 2 ** 17;

/** A round of calls takes six cases. This has no divisor in common with 6, so after as many rounds every kind has had every case. */
const ATTENTIONS = 49;

/** The bytes of the engine's heap that are in use: all but those that take blocks until the heap grows. */
function bytesInUse(engine: Heed): number {
  const { engine: size } = engine.memory();
  const blocks = [];
  while (engine.memory().engine === size) blocks.push(engine.zeros([BLOCK]));
  for (const block of blocks) block.dispose();
  return size - (blocks.length - 1) * 2 ** 14;
}

/** Calls of every kind, by turns. Each leaves nothing. */
async function mixedCalls(engine: Heed): Promise<(() => Promise<void>)[]> {
  const attentions = cases(3, ATTENTIONS);
  const linear = new Linear({ inFeatures: 24, outFeatures: 40, engine });
  linear.load({ weight: numbers(40, 24), bias: numbers(40) });
  const norm = new LayerNorm({ shape: 24, engine }).load({ weight: numbers(24), bias: numbers(24) });
  const gru = new GRU({ inputSize: 24, hiddenSize: 8, engine });
  gru.load({
    weight_ih_l0: numbers(24, 24),
    weight_hh_l0: numbers(24, 8),
    bias_ih_l0: numbers(24),
    bias_hh_l0: numbers(24),
  });
  const cache = await engine.createCache({ kvHeads: 2, headDim: 16, window: 20, dtype: "i8" });
  const states = RULES.map((rule) => linearCall(random, rule, 9, true));
  const x = numbers(5, 24);
  const token = numbers(1, 2, 1, 16);
  let turn = 0;
  const next = <T>(of: readonly T[]): T => of[turn++ % of.length] ?? raise();
  const attention = () => {
    const { query, key, value, options } = next(attentions);
    return [query, key, value, options] as const;
  };
  return [
    async () => void (await engine.attention(...attention())),
    async () => void engine.attentionSync(...attention()),
    async () => {
      const [query, key, value, options] = attention();
      (await engine.attention(query, key, value, { ...options, keep: true })).output.dispose();
    },
    async () => {
      const [query, key, , options] = attention();
      await errorOf(() => engine.attention(query, key, 0 as never, options));
    },
    async () => void (await engine.attention(token, token, token, { cache })),
    async () => {
      const [, rotated, options] = next(ROPE_CALLS);
      (await engine.rope(rotated, { ...options, keep: true })).dispose();
    },
    async () => {
      const { query, key, value, options } = next(states);
      const { output, state } = await engine.linearAttention(query, key, value, { ...options, keep: true });
      output.dispose();
      state.dispose();
    },
    async () => void (await linear.forward(x)),
    async () => {
      using kept = await linear.forward(x, { keep: true });
      await errorOf(() => norm.forward(kept));
    },
    async () => (await norm.forward(x, { keep: true })).dispose(),
    async () => {
      const { output, state } = await gru.forward(numbers(2, 3, 24), { keep: true });
      output.dispose();
      state.dispose();
    },
  ];
}

describe.each(FEW_KINDS)("$variant, $worker worker", (kind) => {
  const open = (): Promise<Heed> => openKind(kind, kind.worker === null ? {} : { threads: 2 });
  // Messages between memories take most of the time.
  const [count, texts] = kind.worker === "private-memory" ? [2000, 2] : [10_000, 10];

  test(`${count} mixed calls grow no heap, the workers' included, and leave no tensor`, {
    timeout: 300_000,
  }, async () => {
    using engine = await open();
    const calls = await mixedCalls(engine);
    const run = async (times: number): Promise<void> => {
      for (let at = 0; at < times; at++) await (calls[at % calls.length] ?? raise())();
    };
    // A worker's memory is known from its first answer on, so each of them computes something.
    await Promise.all(calls.map((call) => call()));
    // An engine keeps the block of a call for the next one: here the largest that it keeps, whatever the calls before were.
    const large = numbers(1000, 60);
    const used = (): number => {
      engine.attentionSync(large, large, large);
      return bytesInUse(engine);
    };
    // A call of a kind that comes with a larger case than before may need a larger heap.
    await run(ATTENTIONS * calls.length);
    const before = { used: used(), memory: engine.memory() };
    if (kind.worker === "private-memory") expect(before.memory.workers).toBeGreaterThan(0);
    else expect(before.memory.workers).toBe(0);
    await run(count);
    expect(engine.memory()).toEqual(before.memory);
    expect(Math.abs(used() - before.used)).toBeLessThan(SLACK);
  });

  test(`${100 * texts} tokens of a model end at the heap of the first text, each text with the first one's logits`, {
    timeout: 300_000,
  }, async () => {
    using engine = await open();
    const { config, parameters } = madeByTransformers("llama");
    const model = new LlamaModel({ ...config, num_hidden_layers: 1 }, { engine }).load(parameters);
    const text = async (): Promise<Float32Array> => {
      using cache = await engine.createCache({ kvHeads: 2, headDim: 4, maxLength: 100 });
      for (let at = 0; at < 99; at++) await model.forward([(at * 7) % 16], { caches: [cache] });
      return (await model.forward([0], { caches: [cache] })).logits.data;
    };
    const first = await text();
    const before = { used: bytesInUse(engine), memory: engine.memory() };
    for (let at = 0; at < texts; at++) expect(differentIndex(await text(), first)).toBe(-1);
    expect(engine.memory()).toEqual(before.memory);
    expect(Math.abs(bytesInUse(engine) - before.used)).toBeLessThan(SLACK);
  });

  test("60 steps of training end at the heap of the first ten, the workers' included", {
    timeout: 300_000,
  }, async () => {
    using engine = await open();
    const model = new GRU({ inputSize: 64, hiddenSize: 64, engine }).init({ seed: 1 });
    const optimizer = new AdamW(model, { learningRate: 1e-3 });
    const x = numbers(64, 24, 64);
    const steps = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at++) {
        await gradients(model, async (pass) => {
          const { output } = await model.forward(x, { pass });
          return { loss: await meanSquaredError(output, x, { pass }) };
        });
        await optimizer.step();
      }
    };
    // By the eighth step the allocator has found a place for all that is there at once.
    await steps(10);
    const before = { used: bytesInUse(engine), memory: engine.memory() };
    await steps(60);
    const after = engine.memory();
    expect(after.engine).toBe(before.memory.engine);
    expect(after.tensorBytes).toBe(before.memory.tensorBytes);
    // Which worker is sent what depends on which is idle. A worker that kept what a step sent it would grow by 3 MB each.
    expect(after.workers).toBeLessThanOrEqual(before.memory.workers + 2 ** 22);
    expect(Math.abs(bytesInUse(engine) - before.used)).toBeLessThan(SLACK);
  });
});

function raise(): never {
  throw new Error("unreachable");
}
