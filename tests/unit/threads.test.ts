// Calls on several threads: which workers compute, that the bits are the same, and what happens when a worker is lost.

import { Worker as NodeWorker } from "node:worker_threads";
import { describe, expect, test, vi } from "vitest";
import { attend, check } from "../../web/src/api/attention.js";
import { workerSource } from "../../web/src/backends/wasm/generated/worker-source.js";
import { createHeed, type Heed, HeedError, type TensorLike } from "../../web/src/index.js";
import { ATTENTION } from "../../web/src/operations/attention.js";
import { cases, compute, differentIndex, errorOf, firstDifferentBit } from "../support/cases.js";
import { type EngineKind, FEW_KINDS, nameOf, openBackend, openKind } from "../support/engines.js";
import { ownWorkers } from "../support/own-workers.js";
import { Random } from "../support/random.js";
import { counted } from "../support/tasks-done.js";
import { drawnBy } from "../support/tensors.js";

const random = new Random(17);

const tensor = drawnBy(random);

function inputs(...shape: number[]) {
  return { query: tensor(...shape), key: tensor(...shape), value: tensor(...shape) } as const;
}

const SMALL = inputs(1, 2, 9, 8);
const MIDDLE = inputs(1, 3, 300, 40);

/** Half a second of work on one core. */
const LONG = inputs(1, 8, 2048, 64);

const soon = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** One of two workers dies in a call, and another call is right. */
async function loseInCall(kind: EngineKind, worker: number, left: Partial<Heed["capabilities"]>): Promise<Heed> {
  const { workers, wasm } = ownWorkers();
  const heed = await openKind(kind, { threads: 2, wasm });
  const { query, key, value } = LONG;
  const resident = heed.tensor(key.data, key.shape);
  const expected = await heed.attention(query, resident, value);
  const lost = errorOf(() => heed.attention(query, resident, value));
  await soon(30);
  await workers[worker]?.terminate();
  expect(await lost).toMatchObject({ code: "device-lost" });
  expect(heed.capabilities).toMatchObject(left);
  const { output } = await heed.attention(query, resident, value);
  expect(differentIndex(output.data, expected.output.data)).toBe(-1);
  return heed;
}

/** Waits for shared memory that nobody has ended yet, each of which keeps its memory; and what resolves when there are so many. */
function watchWaits(wanted: number) {
  const atomics = Atomics as unknown as { waitAsync: (...given: unknown[]) => { value: unknown } };
  const { waitAsync } = atomics;
  let open = 0;
  let reached = (): void => {};
  const begun = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const spy = vi.spyOn(atomics, "waitAsync").mockImplementation((...given) => {
    const wait = waitAsync(...given);
    open += 1;
    if (open === wanted) reached();
    void Promise.resolve(wait.value).then(() => {
      open -= 1;
    });
    return wait;
  });
  return { begun, open: () => open, restore: () => spy.mockRestore() };
}

test.each(["disposed", "lost"])("an engine that is %s in the middle of a call leaves no wait behind", async (how) => {
  const { workers, wasm } = ownWorkers();
  const heed = await openKind({ variant: "simd", worker: "shared-memory" }, { threads: 2, wasm });
  const waits = watchWaits(2);
  try {
    const { query, key, value } = LONG;
    const calls = [1, 2].map(() => errorOf(() => heed.attention(query, key, value)));
    await waits.begun;
    if (how === "disposed") heed.dispose();
    else await Promise.all(workers.map((worker) => worker.terminate()));
    for (const error of await Promise.all(calls)) expect(error).toBeInstanceOf(HeedError);
    await expect.poll(waits.open).toBe(0);
  } finally {
    heed.dispose();
    waits.restore();
  }
});

describe.each(FEW_KINDS.filter(({ worker }) => worker !== null))("$variant, $worker worker", (kind) => {
  test.each([2, 3])("%i threads are as many workers that all compute", async (threads) => {
    const { backend, tasksDone } = await counted(threads, (modules) => openBackend(kind, threads, { modules }));
    expect(backend.report()).toMatchObject({ threads });
    expect(backend.report().reasons.join()).not.toContain("threads compute");
    await attend(backend, LONG, {});
    for (let worker = 0; worker < threads; worker++) expect(tasksDone(worker)).toBeGreaterThan(0);
    expect(tasksDone(threads)).toBe(0);
    backend.dispose();
  });

  test("a call too small to be shared wakes nobody", async () => {
    const { backend, tasksDone } = await counted(2, (modules) => openBackend(kind, 2, { modules }));
    await attend(backend, SMALL, {});
    expect(tasksDone(1)).toBe(0);
    backend.dispose();
  });

  test("any number of threads gives the bits of one", async () => {
    using one = await openKind(kind, { threads: 1 });
    const shapes = [
      ...cases(5, 20),
      ...[{}, { causal: true }, { causal: "upper-left", window: [40, 0] }].map((options) => ({
        ...(cases(1, 1)[0] ?? raise()),
        ...MIDDLE,
        options: { ...options, return: { weights: true, lse: true } } as never,
      })),
    ];
    for (const threads of [2, 3, 5]) {
      using several = await openKind(kind, { threads });
      for (const given of shapes) {
        expect(firstDifferentBit(await compute(one, given), await compute(several, given)), given.name).toBeNull();
      }
    }
  });

  test("disposal ends every worker", async () => {
    const { workers, wasm } = ownWorkers();
    const heed = await openKind(kind, { threads: 3, wasm });
    const ends = workers.map((worker) => new Promise((resolve) => worker.on("exit", resolve)));
    expect(ends).toHaveLength(3);
    await heed.attention(MIDDLE.query, MIDDLE.key, MIDDLE.value);
    heed.dispose();
    await Promise.all(ends);
  });

  test("one of several workers that dies costs the call under way; the engine stays where it is, with a thread less", async () => {
    using heed = await loseInCall(kind, 1, { worker: kind.worker, threads: 1 });
    expect(heed.capabilities.reasons.join()).toMatch(/1 of 2 threads compute: (helper 1|a worker) was lost/);
  });

  test("one of several workers that dies between calls costs none", async () => {
    const { workers, wasm } = ownWorkers();
    using heed = await openKind(kind, { threads: 3, wasm });
    const { query, key, value } = MIDDLE;
    const expected = await heed.attention(query, key, value);
    await workers[1]?.terminate();
    expect(await heed.attention(query, key, value)).toEqual(expected);
    expect(heed.capabilities).toMatchObject({ worker: kind.worker, threads: 2 });
  });
});

/** Eight queries, which are not cut, so one worker computes them alone. The scores take 0.2 s, and the keys are sent quickly. */
const UNCUT = (() => {
  const [keys, dim, hidden] = [2 ** 16, 4, 256];
  const score = { type: "additive", wq: tensor(hidden, dim), wk: tensor(hidden, dim) } as const;
  return { query: tensor(1, 1, 8, dim), keys: tensor(1, 1, keys, dim), score };
})();

function uncut(heed: Heed, signal?: AbortSignal) {
  const { query, keys, score } = UNCUT;
  return heed.attention(query, keys, keys, { score, ...(signal && { signal }) });
}

describe.each(FEW_KINDS.filter(({ worker }) => worker !== null))("$variant, $worker worker: several calls", (kind) => {
  test("one that leaves a worker free does not keep the next from being computed", async () => {
    using heed = await openKind(kind, { threads: 2 });
    const { query, key, value } = SMALL;
    const expected = await heed.attention(query, key, value);
    const order: string[] = [];
    const long = uncut(heed).finally(() => order.push("long"));
    const short = heed.attention(query, key, value).finally(() => order.push("short"));
    expect(await short).toEqual(expected);
    await long;
    expect(order).toEqual(["short", "long"]);
  });

  test("as many as are made at once have the bits of each alone", async () => {
    using one = await openKind(kind, { threads: 1 });
    const shapes = [...cases(7, 30), { ...(cases(1, 1)[0] ?? raise()), ...MIDDLE, options: { causal: true } as never }];
    const expected = [];
    for (const given of shapes) expected.push(await compute(one, given));
    for (const threads of [2, 3]) {
      using several = await openKind(kind, { threads });
      const results = await Promise.all([...shapes, ...shapes].map((given) => compute(several, given)));
      for (const [index, result] of results.entries()) {
        const of = index % shapes.length;
        expect(firstDifferentBit(expected[of] ?? raise(), result), shapes[of]?.name).toBeNull();
      }
    }
  });

  test("an abort of one harms none of the others", async () => {
    using heed = await openKind(kind, { threads: 2 });
    const { query, key, value } = MIDDLE;
    const expected = await heed.attention(query, key, value);
    for (const aborts of [0, 1, 2]) {
      const controllers = [0, 1, 2].map(() => new AbortController());
      const signals = controllers.map(({ signal }) => signal);
      const calls = [
        heed.attention(query, key, value, { signal: signals[0] }),
        uncut(heed, signals[1]),
        heed.attention(query, key, value, { signal: signals[2] }),
      ];
      controllers[aborts]?.abort();
      const outcomes = await Promise.allSettled(calls);
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === "rejected") expect([index, outcome.reason]).toMatchObject([aborts, { code: "aborted" }]);
        else if (index !== 1) expect(outcome.value).toEqual(expected);
        expect(outcome.status === "rejected").toBe(index === aborts);
      }
      expect(await heed.attention(query, key, value)).toEqual(expected);
    }
    expect(heed.capabilities).toMatchObject({ worker: kind.worker, threads: 2 });
  });

  test("whichever worker dies while several are under way, each call ends, and the engine works on", async () => {
    for (const dying of [0, 1]) {
      const { workers, wasm } = ownWorkers();
      using heed = await openKind(kind, { threads: 2, wasm });
      const { query, key, value } = MIDDLE;
      const expected = await heed.attention(query, key, value);
      const calls = [uncut(heed), uncut(heed), heed.attention(query, key, value)];
      await workers[dying]?.terminate();
      const [first, second, third] = await Promise.allSettled(calls);
      const lost = [first, second].find((one) => one?.status === "rejected") ?? first;
      expect(lost).toMatchObject({ status: "rejected", reason: { code: "device-lost" } });
      if (third?.status === "fulfilled") expect(third.value).toEqual(expected);
      else expect(third).toMatchObject({ reason: { code: "device-lost" } });
      expect(await heed.attention(query, key, value)).toEqual(expected);
      // A lost leader may hold the allocator's lock, so the shared memory is abandoned. A private memory is no loss to the others.
      const left = kind.worker === "shared-memory" ? { worker: "private-memory", threads: 2 } : { threads: 1 };
      expect(heed.capabilities).toMatchObject(left);
    }
  });
});

describe.each(FEW_KINDS.filter(({ worker }) => worker !== null))("$variant, $worker worker: recovery", (kind) => {
  /** A backend of four threads whose front instance trapped, and `left` workers to recover with. */
  async function trapped(left: number) {
    let allowed = 4;
    let made = 0;
    const workerFactory = (): never => {
      made += 1;
      if (made > allowed) throw new Error("enough workers");
      return new NodeWorker(workerSource, { eval: true }) as never;
    };
    const backend = await openBackend(kind, 4, { workerFactory });
    const { problem } = check("test", backend, SMALL, {}).checked;
    allowed = made + left;
    const wild = { ...problem, key: { ...problem.key, strides: [0, 0, 2 ** 26, 1] as const } };
    expect(await errorOf(() => backend.runSync(ATTENTION, wild))).toMatchObject({ code: "memory" });
    return backend;
  }

  test.each([0, 1, 2])("calls made during recovery are computed, with %i workers left", async (left) => {
    using one = await openKind(kind, { threads: 1 });
    const { query, key, value } = MIDDLE;
    const expected = await one.attention(query, key, value);
    const backend = await trapped(left);
    const controller = new AbortController();
    const aborted = errorOf(() => attend(backend, LONG, { signal: controller.signal }));
    const others = [1, 2, 3].map(() => attend(backend, MIDDLE, {}));
    controller.abort();
    expect(await aborted).toMatchObject({ code: "aborted" });
    for (const given of await Promise.all(others)) expect(given).toEqual(expected);
    backend.dispose();
  });
});

describe.each(FEW_KINDS.filter(({ worker }) => worker === "shared-memory"))("$variant, shared memory", (kind) => {
  test("an aborted call ends early, its workers ready for the next", async () => {
    const { backend, tasksDone } = await counted(2, (modules) => openBackend(kind, 2, { modules }));
    const tasks = (): number => tasksDone(0) + tasksDone(1);
    const expected = await attend(backend, MIDDLE, {});
    const before = tasks();
    await attend(backend, LONG, {});
    const whole = tasks() - before;
    const controller = new AbortController();
    const aborted = errorOf(() => attend(backend, LONG, { signal: controller.signal }));
    await soon(30);
    controller.abort();
    expect(await aborted).toMatchObject({ code: "aborted" });
    expect(await attend(backend, MIDDLE, {})).toEqual(expected);
    expect(tasks() - before - whole).toBeLessThan(whole);
    backend.dispose();
  });

  // The pages of this output take several tasks to touch, and it is computed before that.
  test("a result that arrives before all pages of its array are touched stays intact", async () => {
    using heed = await openKind(kind);
    const [rows, dim] = [40_000, 64];
    const value = { data: Float32Array.from({ length: dim }, (_, i) => i + 1), shape: [1, 1, 1, dim] };
    const zeros = (length: number): TensorLike => ({ data: new Float32Array(length), shape: [1, 1, length, 1] });
    const { output } = await heed.attention(zeros(rows), zeros(1), value, { return: { weights: true } });
    const isWhole = (): boolean => output.data.every((number, i) => number === (i % dim) + 1);
    expect([output.data.length, isWhole()]).toEqual([rows * dim, true]);
    await soon(50);
    expect(isWhole()).toBe(true);
  });

  test("when the leading worker dies in a call the engine falls back, whatever its helpers do", async () => {
    using heed = await loseInCall(kind, 0, { worker: "private-memory", threads: 2 });
    expect(heed.attentionSync(SMALL.query, SMALL.key, SMALL.value).output.shape).toEqual([1, 2, 9, 8]);
  });
});

test("without Atomics.waitAsync the worker answers by message", async () => {
  const { query, key, value } = MIDDLE;
  const waitAsync = Object.getOwnPropertyDescriptor(Atomics, "waitAsync") ?? raise();
  Reflect.deleteProperty(Atomics, "waitAsync");
  vi.resetModules();
  const own = await import("../../web/src/index.js");
  const { workers, wasm } = ownWorkers();
  using heed = await own.createHeed({ threads: 2, offload: true, wasm });
  Object.defineProperty(Atomics, "waitAsync", waitAsync);
  let answers = 0;
  workers[0]?.on("message", () => {
    answers += 1;
  });
  expect(heed.capabilities).toMatchObject({ worker: "shared-memory", threads: 2 });
  const { output } = await heed.attention(query, key, value);
  expect(output.data).toEqual(heed.attentionSync(query, key, value).output.data);
  expect(answers).toBe(1);
});

test("the pool does without helpers that do not start, and reasons say so", async () => {
  let made = 0;
  const workerFactory = (): never => {
    made += 1;
    if (made > 2) throw new Error("enough workers");
    return new NodeWorker(workerSource, { eval: true }) as never;
  };
  using heed = await createHeed({ threads: 1000, offload: true, wasm: { workerFactory } });
  expect(heed.capabilities).toMatchObject({ worker: "shared-memory", threads: 2 });
  const reasons = heed.capabilities.reasons.join();
  expect(reasons).toContain("2 of 1000 threads compute: a pool has at most 64 workers; helper 2 did not start");
  expect(reasons).toContain("enough workers");
  const { query, key, value } = MIDDLE;
  const { output } = await heed.attention(query, key, value);
  expect(output.data).toEqual(heed.attentionSync(query, key, value).output.data);
});

describe.each(FEW_KINDS.filter(({ worker }) => worker === "private-memory"))("$variant, private memory", (kind) => {
  test("an aborted call sends no more shards, and its workers stay", async () => {
    const { workers, wasm } = ownWorkers();
    const grain = { least: 1, most: 2 ** 22, count: 1, upTo: 10_000 };
    const { backend, tasksDone } = await counted(2, (modules) => openBackend(kind, 2, { ...wasm, grain, modules }));
    const shards = (): number => tasksDone(0) + tasksDone(1);
    await attend(backend, LONG, {});
    const whole = shards();
    const expected = await attend(backend, MIDDLE, {});
    const before = shards();
    const controller = new AbortController();
    const aborted = errorOf(() => attend(backend, LONG, { signal: controller.signal }));
    await soon(30);
    controller.abort();
    expect(await aborted).toMatchObject({ code: "aborted" });
    expect(await attend(backend, MIDDLE, {})).toEqual(expected);
    expect(shards() - before).toBeLessThan(whole);
    expect(workers).toHaveLength(2);
    backend.dispose();
  });

  test("an abort terminates a worker that takes long with a shard, and replaces it", async () => {
    const { workers, wasm } = ownWorkers();
    using heed = await openKind(kind, { threads: 2, wasm });
    const expected = await uncut(heed);
    const controller = new AbortController();
    const aborted = errorOf(() => uncut(heed, controller.signal));
    await soon(5);
    controller.abort();
    expect(await aborted).toMatchObject({ code: "aborted" });
    await soon(60);
    expect(await uncut(heed)).toEqual(expected);
    expect(workers.length).toBeGreaterThan(2);
    expect(heed.capabilities).toMatchObject({ worker: "private-memory", threads: 2 });
  });
});

test.each(FEW_KINDS.filter(({ worker }) => worker === null))(
  "$variant, $worker worker has one thread and says why, and the tests' openKind accepts it for no more",
  async (kind) => {
    using heed = await openKind(kind);
    expect(heed.capabilities.threads).toBe(1);
    const refusal = openKind(kind, { threads: 2 });
    await expect(refusal).rejects.toThrow(`wanted ${nameOf(kind)}, 2 threads`);
    await expect(refusal).rejects.toThrow(/1 of 2 threads compute: .* computes alone/);
  },
);

function raise(): never {
  throw new Error("unreachable");
}
