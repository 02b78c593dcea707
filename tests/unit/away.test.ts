// What a program leaves in a worker with its own memory: it moves with the engine, outlives aborted calls, and its loss is told.

import { expect, test } from "vitest";
import type { Program, Resident } from "../../web/src/backends/backend.js";
import type { WasmBackend } from "../../web/src/backends/wasm/wasm-backend.js";
import type { Heed } from "../../web/src/index.js";
import { GPT2Model, MultiHeadAttention } from "../../web/src/layers/index.js";
import { POINTWISE } from "../../web/src/operations/pointwise.js";
import { PRODUCT } from "../../web/src/operations/training/product.js";
import { AdamW, clipNorm, crossEntropy, gradients } from "../../web/src/train/index.js";
import { errorOf } from "../support/cases.js";
import { type EngineKind, openBackend, openKind } from "../support/engines.js";
import { ownWorkers } from "../support/own-workers.js";
import { Random } from "../support/random.js";

const PRIVATE: EngineKind = { variant: "simd", worker: "private-memory" };
const SHARED: EngineKind = { variant: "simd", worker: "shared-memory" };

const COUNT = 4096;

/** x + x */
async function twice(program: Program, resident: Resident): Promise<Resident> {
  const rows = { resident, count: 64, length: 64 };
  const rule = { activation: "none", bias: null, factor: null, addend: rows } as const;
  const [made] = await program.run(POINTWISE, { input: rows, rule });
  if (made === undefined) throw new Error("it has a result");
  return made.resident;
}

/** Twice the numbers, where the program computed them. */
async function leftBy(backend: WasmBackend, x: Resident): Promise<Resident> {
  const program = await backend.program(null, "full");
  const made = await twice(program, x);
  await program.flush();
  const kept = program.keep(made);
  await program.close();
  return kept;
}

const CONFIG = { model_type: "gpt2", vocab_size: 16, n_embd: 16, n_layer: 2, n_head: 2, n_positions: 16 };
const TOKENS = { data: Array.from({ length: 32 }, (_, at) => (at * 5 + (at >> 2)) % 16), shape: [2, 16] };

async function gradientsOf(model: GPT2Model): Promise<number> {
  const { loss } = await gradients(model, async (pass) => {
    const { logits } = await model.forward(TOKENS, { pass });
    return { loss: await crossEntropy(logits, TOKENS.data, { pass }) };
  });
  return loss;
}

const parametersOf = async (model: GPT2Model): Promise<readonly Float32Array[]> =>
  [...(await model.readParameters()).values()].map(({ data }) => data as Float32Array);

test("it is there after the engine has moved to another module, and before", async () => {
  const backend = await openBackend(PRIVATE, 2);
  const numbers = new Random(5).floats(COUNT);
  const x = backend.upload(numbers);
  const kept = [await leftBy(backend, x), await leftBy(backend, x)];
  for (const module of ["training", "narrow", "core"] as const) {
    await backend.use(module);
    for (const one of kept) expect(await backend.download(one)).toEqual(numbers.map((number) => 2 * number));
    kept.push(await leftBy(backend, kept[0] ?? x));
    const last = kept.pop() ?? x;
    expect(await backend.download(last)).toEqual(numbers.map((number) => 4 * number));
    backend.free(last);
  }
  for (const one of [...kept, x]) backend.free(one);
  expect(backend.memory().tensors).toBe(0);
  backend.dispose();
});

test("an aborted call that takes long does not end the worker that has it", async () => {
  const { workers, wasm } = ownWorkers();
  const backend = await openBackend(PRIVATE, 1, {
    ...wasm,
    grain: { least: 2 ** 40, most: 2 ** 40, count: 1, upTo: 1 },
  });
  const numbers = new Random(6).floats(COUNT);
  const kept = await leftBy(backend, backend.upload(numbers));
  const long = backend.upload(new Float32Array(2 ** 21).fill(1));
  const rows = { resident: long, count: 2 ** 15, length: 64 };
  const program = await backend.program(null, "full");
  const before = workers.length;
  const abort = new AbortController();
  const rule = { activation: "gelu", bias: null, factor: null, addend: null } as const;
  const aborted = errorOf(() => backend.run(POINTWISE, { input: rows, rule }, abort.signal));
  abort.abort();
  expect(await aborted).toMatchObject({ code: "aborted" });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await program.close();
  expect(workers).toHaveLength(before);
  expect(await backend.download(kept)).toEqual(numbers.map((number) => 2 * number));
  backend.dispose();
});

test("a pass right after one whose worker was terminated waits for the next worker", async () => {
  const { workers, wasm } = ownWorkers();
  const backend = await openBackend(PRIVATE, 1, wasm);
  const large = backend.upload(new Float32Array(2 ** 24).fill(1));
  const abort = new AbortController();
  const program = await backend.program(abort.signal, "full");
  const before = workers.length;
  const rows = { resident: large, count: 2 ** 18, length: 64 };
  const rule = { activation: "gelu", bias: null, factor: null, addend: null } as const;
  for (let times = 0; times < 8; times++) {
    for (const { resident } of await program.run(POINTWISE, { input: rows, rule })) program.free(resident);
  }
  const ended = errorOf(() => program.flush());
  abort.abort();
  expect(await ended).toMatchObject({ code: "aborted" });
  await program.close();
  const numbers = new Random(8).floats(COUNT);
  const x = backend.upload(numbers);
  expect(workers).toHaveLength(before + 1);
  expect(await backend.download(await leftBy(backend, x))).toEqual(numbers.map((number) => 2 * number));
  backend.dispose();
});

test("training has the bits of shared memory, and its gradients and moments stay in the worker", async () => {
  const run = async (kind: EngineKind) => {
    using engine = await openKind(kind, { threads: 1 });
    const model = new GPT2Model(CONFIG, { engine }).init({ seed: 3 });
    const optimizer = new AdamW(model, { learningRate: 0.01 });
    const losses: unknown[] = [];
    for (let step = 0; step < 4; step++) {
      losses.push(await gradientsOf(model), await clipNorm(model, 1), await model.readGradients());
      await optimizer.step();
    }
    return { losses, parameters: await parametersOf(model) };
  };
  expect(await run(PRIVATE)).toEqual(await run(SHARED));
});

test("a lost worker costs gradients and moments, and says so; parameters stay, and training goes on without them", async () => {
  const { workers, wasm } = ownWorkers();
  const engine: Heed = await openKind(PRIVATE, { threads: 1, wasm: wasm as never });
  const model = new GPT2Model(CONFIG, { engine }).init({ seed: 3 });
  const optimizer = new AdamW(model);
  await gradientsOf(model);
  await optimizer.step();
  const before = await parametersOf(model);
  const loss = await gradientsOf(model);
  await Promise.all(workers.map((worker) => worker.terminate()));
  for (let again = 0; again < 2; again++) {
    expect(await errorOf(() => optimizer.step())).toMatchObject({ name: "HeedError", code: "device-lost" });
  }
  expect(await errorOf(() => model.readGradients())).toMatchObject({ code: "device-lost" });
  expect(await parametersOf(model)).toEqual(before);
  await optimizer.clear();
  expect(await gradientsOf(model)).toBe(loss);
  expect((await errorOf(() => optimizer.step())).message).toMatch(/memory of a worker that is lost/);
  await new AdamW(model).step();
  expect(await parametersOf(model)).not.toEqual(before);
  engine.dispose();
});

test("pages of a cache that a pass wrote to are there for calls of any kind", async () => {
  const run = async (kind: EngineKind, dtype: "f32" | "f16" | "i8") => {
    using engine = await openKind(kind, { threads: kind.worker === "private-memory" ? 2 : 1 });
    const layer = new MultiHeadAttention({ embedDim: 64, heads: 4, engine }).init({ seed: 4 });
    const cache = await engine.createCache({ batch: 2, kvHeads: 4, headDim: 16, maxLength: 256, dtype });
    const random = new Random(7);
    const tensor = (length: number) => ({ data: random.floats(2 * length * 64), shape: [2, length, 64] });
    const heads = (length: number) => ({ data: random.floats(2 * 4 * length * 16), shape: [2, 4, length, 16] });
    const results: unknown[] = [];
    for (const length of [70, 1, 1, 3]) {
      const x = tensor(length);
      results.push((await layer.forward(x, x, x, { causal: true, cache })).output);
      const [query, key, value] = [heads(2), heads(2), heads(2)];
      results.push(engine.attentionSync(query, key, value, { cache, causal: true }).output);
      results.push((await engine.attention(query, key, value, { cache, causal: true })).output);
      await cache.truncate(cache.length - 3);
      await cache.reorder([1, 1]);
    }
    return results;
  };
  for (const dtype of ["f32", "f16", "i8"] as const)
    expect(await run(PRIVATE, dtype)).toEqual(await run(SHARED, dtype));
});

/** Residents of so many numbers that are made and freed. */
async function waste(program: Program, x: Resident, times: number): Promise<void> {
  for (let at = 0; at < times; at++) {
    const rows = { resident: x, count: x.elements / 64, length: 64 };
    const rule = { activation: "none", bias: null, factor: null, addend: null } as const;
    for (const { resident } of await program.run(POINTWISE, { input: rows, rule })) program.free(resident);
  }
}

test("aborted programs leave nothing in the worker, whatever was sent of them", async () => {
  const backend = await openBackend(PRIVATE, 1);
  const x = backend.upload(new Float32Array(2 ** 20).fill(1));
  const aborted = async (ms: number): Promise<void> => {
    const abort = new AbortController();
    const programs = [await backend.program(null, "full"), await backend.program(abort.signal, "full")];
    const flushed = programs.map(async (program) => {
      await waste(program, x, 4);
      await program.flush();
    });
    setTimeout(() => abort.abort(), ms);
    await Promise.allSettled(flushed);
    for (const program of programs) await program.close();
  };
  await aborted(1000);
  await aborted(0);
  const before = backend.memory().workers;
  for (let times = 0; times < 12; times++) await aborted(times % 4);
  expect(backend.memory().workers - before).toBeLessThan(2 ** 24);
  backend.dispose();
});

test("a page with more changes than are remembered is sent again", async () => {
  const backend = await openBackend(PRIVATE, 1);
  const x = backend.upload(new Float32Array(2 ** 14).fill(1));
  const program = await backend.program(null, "full");
  await waste(program, x, 1);
  for (let at = 0; at < 5000; at++) program.changed(x, [{ from: 4 * at, bytes: 4 }]);
  await program.flush();
  await waste(program, x, 1);
  await program.flush();
  await program.close();
  backend.dispose();
});

test("a program whose worker is lost before it was sent anything fails, and computes nothing here", async () => {
  const { workers, wasm } = ownWorkers();
  const backend = await openBackend(PRIVATE, 1, { ...wasm, offload: "auto" });
  const x = backend.upload(new Float32Array(64).fill(1));
  const program = await backend.program(null, "full");
  await waste(program, x, 1);
  await Promise.all(workers.map((worker) => worker.terminate()));
  expect(await errorOf(() => program.flush())).toMatchObject({ code: "device-lost" });
  await program.close();
  backend.dispose();
});

test("a result that no memory holds is refused, and the worker stays", async () => {
  const backend = await openBackend(PRIVATE, 1);
  const column = backend.upload(new Float32Array(36_000));
  const program = await backend.program(null, "training");
  const [left, right] = [
    { resident: column, count: 36_000, length: 1 },
    { resident: column, count: 1, length: 36_000 },
  ];
  const problem = { left, isTransposed: false, right, addend: null };
  expect(await errorOf(() => program.run(PRODUCT, problem))).toMatchObject({ code: "memory" });
  await program.close();
  expect(backend.report().worker).toBe("private-memory");
  backend.dispose();
});
