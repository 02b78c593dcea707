// The life of an engine: queueing, aborting, disposal, lost workers and exhausted memory.

import { readFileSync } from "node:fs";
import { Worker as NodeWorker } from "node:worker_threads";
import { describe, expect, test, vi } from "vitest";
import { attend, attendSync, check } from "../../web/src/api/attention.js";
import { Tensor } from "../../web/src/api/tensor.js";
import { workerSource } from "../../web/src/backends/wasm/generated/worker-source.js";
import { attention, createHeed, type Heed, type TensorLike } from "../../web/src/index.js";
import { ATTENTION } from "../../web/src/operations/attention.js";
import { differentIndex, errorOf } from "../support/cases.js";
import { FEW_KINDS, openBackend, openKind } from "../support/engines.js";
import { ownWorkers } from "../support/own-workers.js";
import { Random } from "../support/random.js";
import { drawnBy } from "../support/tensors.js";

const random = new Random(11);

const tensor = drawnBy(random);

const SMALL = [tensor(1, 2, 9, 8), tensor(1, 2, 17, 8), tensor(1, 2, 17, 8)] as const;

/** Half a second of work on one core. */
const LONG = [tensor(1, 8, 2048, 64), tensor(1, 8, 2048, 64), tensor(1, 8, 2048, 64)] as const;

describe.each(FEW_KINDS.filter(({ worker }) => worker !== null))("$variant, $worker worker", (kind) => {
  test("the calling thread goes on while a long call computes", async () => {
    using heed = await openKind(kind);
    // Counts tasks of this thread's event loop: a call computed on this thread would let none run.
    let tasks = 0;
    let computes = true;
    const count = (): void => {
      tasks += 1;
      if (computes) setImmediate(count);
    };
    setImmediate(count);
    await heed.attention(...LONG);
    computes = false;
    expect(tasks).toBeGreaterThan(5);
  });

  test("sync calls give right results while the worker computes", async () => {
    using heed = await openKind(kind);
    const alone = heed.attentionSync(...SMALL);
    const expected = await heed.attention(...LONG);
    let running = true;
    const long = heed.attention(...LONG).finally(() => {
      running = false;
    });
    let calls = 0;
    for (; running; calls++) {
      expect(heed.attentionSync(...SMALL)).toEqual(alone);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(calls).toBeGreaterThan(2);
    expect(differentIndex((await long).output.data, expected.output.data)).toBe(-1);
  });

  test("calls end in the order in which they were made", async () => {
    using heed = await openKind(kind);
    const order: number[] = [];
    const calls = [LONG, SMALL, SMALL].map((one, index) => heed.attention(...one).then(() => order.push(index)));
    await Promise.all(calls);
    expect(order).toEqual([0, 1, 2]);
  });

  test("an abort rejects a running call and a waiting one at once, and the next call works", async () => {
    using heed = await openKind(kind);
    const expected = await heed.attention(...SMALL);
    const controller = new AbortController();
    const { signal } = controller;
    const out = new Float32Array(LONG[0].data.length).fill(7);
    const running = errorOf(() => heed.attention(...LONG, { signal, out }));
    const waiting = errorOf(() => heed.attention(...SMALL, { signal }));
    let bystanderIsDone = false;
    const bystander = heed.attention(...SMALL).finally(() => {
      bystanderIsDone = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    controller.abort("enough");
    expect(await running).toMatchObject({ code: "aborted", cause: "enough" });
    expect(await waiting).toMatchObject({ code: "aborted" });
    // The worker was not waited for.
    expect(bystanderIsDone).toBe(false);
    expect(await bystander).toEqual(expected);
    expect(differentIndex(out, new Float32Array(out.length).fill(7))).toBe(-1);
  });

  test("disposal rejects calls in flight, and later ones, with disposed", async () => {
    const heed = await openKind(kind);
    const kept = heed.zeros([4]);
    const running = errorOf(() => heed.attention(...LONG));
    const waiting = errorOf(() => heed.attention(...SMALL));
    heed.dispose();
    heed.dispose();
    expect(await running).toMatchObject({ code: "disposed" });
    expect(await waiting).toMatchObject({ code: "disposed" });
    expect(await errorOf(() => heed.attention(...SMALL))).toMatchObject({ code: "disposed" });
    expect(await errorOf(() => heed.attentionSync(...SMALL))).toMatchObject({ code: "disposed" });
    expect(await errorOf(() => heed.zeros([1]))).toMatchObject({ code: "disposed" });
    const cache = errorOf(() => heed.createCache({ kvHeads: 1, headDim: 4, maxLength: 8 }));
    expect(await cache).toMatchObject({ code: "disposed", message: "createCache: the engine was disposed" });
    expect(await errorOf(() => kept.read())).toMatchObject({ code: "disposed" });
    kept.dispose();
  });

  test("a worker that dies costs its call, and the next call computes on the next rung, tensors included", async () => {
    const { workers, wasm } = ownWorkers();
    using heed = await openKind(kind, { threads: 1, wasm });
    const [q, k, v] = SMALL;
    const expected = await heed.attention(q, k, v);
    const resident = heed.tensor(k.data, k.shape);
    expect(await heed.attention(q, resident, v)).toEqual(expected);
    const lost = errorOf(() => heed.attention(...LONG));
    await workers.at(-1)?.terminate();
    expect(await lost).toMatchObject({ code: "device-lost" });
    expect(await heed.attention(q, resident, v)).toEqual(expected);
    expect(await resident.read()).toEqual(k.data);
    expect(heed.capabilities.worker).toBe(kind.worker === "shared-memory" ? "private-memory" : null);
    expect(heed.capabilities.reasons.join()).toContain("the worker was lost");
    // The one after, while it is idle: its loss shows when the next call is made, whose inputs are read at once all the same.
    await workers.at(-1)?.terminate();
    const copy = { ...q, data: q.data.slice() };
    const call = heed.attention(copy, resident, v);
    copy.data.fill(Number.NaN);
    expect(await call).toEqual(expected);
  });
});

describe.each(FEW_KINDS)("$variant, $worker worker", (kind) => {
  test("a call that memory has no room for is refused, and the engine works on", async () => {
    using heed = await openKind(kind);
    const expected = await heed.attention(...SMALL);
    // Weights of 6.4 GB.
    const wide = [tensor(40_000, 1), tensor(40_000, 1), tensor(40_000, 1)] as const;
    const options = { return: { weights: true } } as const;
    expect(await errorOf(() => heed.attention(...wide, options))).toMatchObject({ code: "memory" });
    expect(await errorOf(() => heed.attentionSync(...wide, options))).toMatchObject({ code: "memory" });
    expect(await heed.attention(...SMALL)).toEqual(expected);
  });

  test("a trap in the kernels is a HeedError, and the engine works on, tensors included", async () => {
    const backend = await openBackend(kind, 2);
    const [query, key, value] = SMALL;
    const expected = await attend(backend, { query, key, value }, {});
    const kept = new Tensor(backend, backend.upload(key.data), key.shape);
    const { problem } = check("test", backend, { query, key, value }, {}).checked;
    // Past the API's checks: strides that lead out of any memory.
    const wild = { ...problem, key: { ...problem.key, strides: [0, 0, 2 ** 26, 1] as const } };
    for (let time = 0; time < 2; time++) {
      expect(await errorOf(() => backend.runSync(ATTENTION, wild))).toMatchObject({ code: "memory" });
      expect(await attend(backend, { query, key: kept, value }, {})).toEqual(expected);
      expect(attendSync(backend, { query, key: kept, value }, {})).toEqual(expected);
    }
    expect(backend.report()).toMatchObject({ worker: kind.worker, variant: kind.variant });
    expect((await errorOf(() => backend.run(ATTENTION, wild, null))).code).toMatch(/memory|device-lost/);
    expect(await attend(backend, { query, key: kept, value }, {})).toEqual(expected);
    expect(await kept.read()).toEqual(key.data);
    backend.dispose();
  });

  test("a trap on the calling thread harms no call that workers compute", async () => {
    const backend = await openBackend(kind, 2);
    const [query, key, value] = LONG;
    const expected = await attend(backend, { query, key, value }, {});
    const { problem } = check("test", backend, { query, key, value }, {}).checked;
    const wild = { ...problem, key: { ...problem.key, strides: [0, 0, 2 ** 26, 1] as const } };
    const long = attend(backend, { query, key, value }, {});
    if (kind.worker !== null) await new Promise((resolve) => setTimeout(resolve, 10));
    else await long;
    expect(await errorOf(() => backend.runSync(ATTENTION, wild))).toMatchObject({ code: "memory" });
    const next = attend(backend, { query, key, value }, {});
    expect(await Promise.all([long, next])).toEqual([expected, expected]);
    backend.dispose();
  });

  test("memory() counts tensors until they are disposed of or collected, and nothing after the engine's end", async () => {
    const heed = await openKind(kind);
    const empty = heed.memory();
    expect(empty).toMatchObject({ tensors: 0, tensorBytes: 0 });
    expect(empty.engine).toBeGreaterThan(2 ** 20);
    expect(empty.total).toBe(empty.engine + empty.workers);
    const one = heed.tensor(new Float32Array(1000), [1000]);
    const f16 = heed.zeros([10], { dtype: "f16" });
    expect(heed.memory()).toMatchObject({ tensors: 2, tensorBytes: 4020 });
    one.dispose();
    expect(heed.memory()).toMatchObject({ tensors: 1, tensorBytes: 20 });
    f16.dispose();
    heed.zeros([7]);
    // The finaliser frees the tensor of sevens, which nothing refers to any more.
    await collected(() => heed.memory().tensors === 0);
    expect(heed.memory()).toMatchObject({ tensors: 0, tensorBytes: 0 });
    heed.dispose();
    expect(heed.memory()).toEqual({ total: 0, engine: 0, workers: 0, tensors: 0, tensorBytes: 0 });
  });

  test("a call that C++ refuses rejects with C++'s message, and frees its memory", async () => {
    const backend = await openBackend(kind);
    const [query, key, value] = [tensor(1, 8, 1024, 64), tensor(1, 8, 1024, 64), tensor(1, 8, 1024, 64)];
    const { problem } = check("test", backend, { query, key, value }, {}).checked;
    // Past the API's checks: those in C++ must hold on their own.
    const broken = { ...problem, value: { ...problem.value, shape: [1, 8, 1023, 64] as const } };
    const refuse = async (): Promise<void> => {
      for (const error of [
        await errorOf(() => backend.run(ATTENTION, broken, null)),
        await errorOf(() => backend.runSync(ATTENTION, broken)),
      ]) {
        expect(error).toMatchObject({ code: "shape" });
        expect(error.message).toContain("1023");
      }
    };
    await refuse();
    const before = backend.memory();
    for (let i = 0; i < 20; i++) await refuse();
    expect(backend.memory()).toEqual(before);
    backend.dispose();
  });
});

test.each(FEW_KINDS.filter(({ worker }) => worker !== null))(
  "an engine that nobody has any more ends its workers, but not while its tensors or calls live: $variant, $worker",
  async (kind) => {
    const { workers, wasm } = ownWorkers();
    let ended = 0;
    const open = async () => {
      const heed = await openKind(kind, { threads: 2, wasm });
      for (const worker of workers) worker.on("exit", () => (ended += 1));
      const [q, k, v] = SMALL;
      const { output } = await heed.attention(q, k, v, { keep: true });
      const call = heed.attention(...LONG);
      return { output, call: call.then(({ output: { shape } }) => shape) };
    };
    let held: Awaited<ReturnType<typeof open>> | undefined = await open();
    await collected(() => false, 5);
    expect(await held.call).toEqual(LONG[0].shape);
    expect((await held.output.read()).length).toBe(9 * 2 * 8);
    expect(ended).toBe(0);
    held = undefined;
    await collected(() => ended === 2);
    expect(ended).toBe(2);
  },
);

/** Collects garbage until something shows it, or for so many times. */
async function collected(isOver: () => boolean, times = 100): Promise<void> {
  for (let i = 0; i < times && !isOver(); i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("fallbacks", () => {
  test("no worker possible: calls compute on the calling thread, and capabilities say why", async () => {
    const workerFactory = (): never => {
      throw new Error("worker-src is none");
    };
    using heed = await createHeed({ wasm: { workerFactory } });
    expect(heed.capabilities.worker).toBeNull();
    expect(heed.capabilities.reasons.join()).toContain("worker-src is none");
    const { output } = await heed.attention(...SMALL);
    expect(output.shape).toEqual([1, 2, 9, 8]);
  });

  test("a worker that ends before it starts causes a fallback, not an error", async () => {
    const workerFactory = (): never => new NodeWorker("process.exit(3)", { eval: true }) as never;
    using heed = await createHeed({ wasm: { workerFactory } });
    expect(heed.capabilities.worker).toBeNull();
    expect(heed.capabilities.reasons.join()).toContain("ended with code 3");
  });

  test("messages outside the protocol from the caller's worker change nothing", async () => {
    const noise = `const { parentPort } = require("node:worker_threads");
      const say = () => { for (const one of [null, 7, "text", {}, { kind: "hello" }]) parentPort.postMessage(one); };
      say(); parentPort.on("message", say);`;
    const workerFactory = (): never => new NodeWorker(`{${noise}}\n${workerSource}`, { eval: true }) as never;
    using heed = await createHeed({ offload: true, wasm: { workerFactory } });
    using quiet = await createHeed({ offload: false });
    expect(heed.capabilities.worker).not.toBeNull();
    for (let i = 0; i < 3; i++) expect(await heed.attention(...SMALL)).toEqual(await quiet.attention(...SMALL));
  });

  test("an aborted signal refuses before computing", async () => {
    using heed = await createHeed({ offload: false });
    const signal = AbortSignal.abort();
    expect(await errorOf(() => heed.attention(...SMALL, { signal }))).toMatchObject({ code: "aborted" });
    expect(await errorOf(() => heed.attentionSync(...SMALL, { signal }))).toMatchObject({ code: "aborted" });
  });
});

describe("tensors", () => {
  test("one of another engine is refused as disposed", async () => {
    using one = await createHeed({ offload: false });
    using other = await createHeed({ offload: false });
    const [q, k, v] = SMALL;
    const foreign = other.tensor(k.data, k.shape);
    const error = await errorOf(() => one.attention(q, foreign, v));
    expect(error).toMatchObject({ code: "disposed" });
    expect(error.message).toContain("another engine");
  });

  test("a disposed one is refused", async () => {
    using heed = await createHeed({ offload: false });
    const [q, k, v] = SMALL;
    const gone = heed.tensor(k.data, k.shape);
    gone[Symbol.dispose]();
    expect(await errorOf(() => heed.attention(q, gone, v))).toMatchObject({ code: "disposed" });
    expect(await errorOf(() => gone.read())).toMatchObject({ code: "disposed" });
  });

  test("shapes cannot be changed from outside", async () => {
    using heed = await createHeed({ offload: false });
    const shape = [2, 2];
    const made = heed.tensor(new Float32Array(4), shape);
    shape[0] = 9;
    expect(made.shape).toEqual([2, 2]);
    expect(Object.isFrozen(made.shape)).toBe(true);
  });
});

describe("overrides", () => {
  test("a given module and a given binary stand in for the inlined ones", async () => {
    const bytes = readFileSync(new URL("../../dist/assets/wasm-simd.wasm", import.meta.url));
    const expected = await withHeed({ variant: "simd" }, (heed) => heed.attention(...SMALL));
    for (const wasm of [{ binary: bytes }, { module: new WebAssembly.Module(bytes) }]) {
      using heed = await createHeed({ variant: "simd", wasm });
      expect(heed.capabilities.worker).toBe("private-memory");
      expect(await heed.attention(...SMALL)).toEqual(expected);
    }
  });

  test("a binary of another program is refused with load", async () => {
    const empty = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
    expect(await errorOf(() => createHeed({ wasm: { binary: empty } }))).toMatchObject({ code: "load" });
  });
});

describe("the first call of attention without an engine", () => {
  const [q, k, v] = SMALL;
  const mask = Uint8Array.from({ length: 9 * 17 }, (_, index) => (index % 3 === 0 ? 0 : 1));
  const bias = random.floats(9 * 17);
  const booleans = [...mask].map((value) => value === 1);

  /** A fresh instance of the package, whose shared engine is not open yet. */
  async function fresh(): Promise<typeof attention> {
    vi.resetModules();
    return (await import("../../web/src/index.js")).attention;
  }

  class Getters {
    readonly #tensor: TensorLike;
    constructor(tensor: TensorLike) {
      this.#tensor = tensor;
    }
    get data(): Float32Array {
      return this.#tensor.data;
    }
    get shape(): readonly number[] {
      return this.#tensor.shape;
    }
  }

  test.each<[string, () => Parameters<typeof attention>]>([
    ["tensors", () => [{ ...q, data: q.data.slice() }, k, v]],
    ["tensors of a class with getters", () => [new Getters({ ...q, data: q.data.slice() }), new Getters(k), v]],
    ["f16", () => [{ data: new Uint16Array(q.data.length).fill(0x3c00), shape: q.shape, dtype: "f16" }, k, v]],
    ["a bare mask", () => [q, k, v, { mask: mask.slice() }]],
    ["a mask of booleans", () => [q, k, v, { mask: { data: [...booleans], shape: [9, 17] } }]],
    ["a bare bias", () => [q, k, v, { bias: bias.slice() }]],
    ["shapes", () => [{ data: q.data, shape: [...q.shape] }, k, v]],
    ["options", () => [q, k, v, { scale: 0.3, causal: true }]],
    [
      "options inside options",
      () => [
        q,
        k,
        v,
        {
          dropout: { p: 0.5, seed: 3 },
          return: { weights: { rows: [1, 3] } },
          cuSeqlensQ: [0, 9],
          cuSeqlensK: [0, 17],
        },
      ],
    ],
    ["inherited options", () => [q, k, v, Object.assign(Object.create({ causal: true, scale: 0.2 }), { bias })]],
  ])("reads %s as later calls do, and before it returns", async (_name, make) => {
    const expected = await attention(...make());
    const args = make();
    const first = (await fresh())(...args);
    spoil(args);
    expect(await first).toEqual(expected);
  });

  test("is refused before an engine is opened", async () => {
    const call = Reflect.apply(await fresh(), undefined, [q, k, 7]);
    const late = new Promise((resolve) => setTimeout(() => resolve("late"), 0));
    const error = await Promise.race([call.catch((thrown: unknown) => thrown), late]);
    expect(error).toMatchObject({ code: "dtype" });
  });

  /** Overwrites everything that can be written to, save the tensors that all tests share. */
  function spoil([query, , , options]: Parameters<typeof attention>): void {
    if (query !== q && "data" in query && query.data !== q.data && "fill" in query.data) query.data.fill(9);
    if (query !== q && query.shape !== q.shape) Object.assign(query.shape, [7, 7, 7]);
    const given = options ?? {};
    for (const value of [given.mask, given.bias]) {
      if (value instanceof Uint8Array) value.fill(0);
      else if (value instanceof Float32Array && value !== bias) value.fill(9);
      else if (value !== undefined && "data" in value && Array.isArray(value.data)) value.data.fill(false);
    }
    const weights = given.return?.weights;
    if (typeof weights === "object") Object.assign(weights.rows, [0, 9]);
    Object.assign(given.dropout ?? {}, { p: 0.9, seed: 4 });
    Object.assign(given, { scale: 7, causal: false });
  }
});

test("attention without an engine opens one shared engine and reads its inputs at once", async () => {
  const [q, k, v] = SMALL;
  const copy = { ...q, data: q.data.slice() };
  const first = attention(copy, k, v, { mask: { data: new Uint8Array(17).fill(1), shape: [17] } });
  copy.data.fill(Number.NaN);
  expect(await first).toEqual(await attention(q, k, v));
  expect(await errorOf(() => Reflect.apply(attention, undefined, []))).toMatchObject({ code: "dtype" });
});

async function withHeed<T>(options: Parameters<typeof createHeed>[0], use: (heed: Heed) => Promise<T>): Promise<T> {
  using heed = await createHeed(options);
  return await use(heed);
}
