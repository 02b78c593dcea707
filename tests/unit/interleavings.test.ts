// Every order in which workers finish, are lost, and modules are loaded while calls of all kinds are under way, are aborted, or lose
// their engine: each call ends. Queue, ladder, programs and locks are the engine's own; the kernels compute on this thread, and their
// results are handed over when the order says so.

import { beforeAll, describe, expect, test, vi } from "vitest";
import type { Job } from "../../web/src/backends/wasm/job.js";
import type { Finished, Kernels } from "../../web/src/backends/wasm/kernels.js";
import { BlockingRunner } from "../../web/src/backends/wasm/local-runners.js";
import type { OpenRung } from "../../web/src/backends/wasm/rung.js";
import type { Runner } from "../../web/src/backends/wasm/runner.js";
import { WorkerLost } from "../../web/src/backends/wasm/worker-link.js";
import { createHeed } from "../../web/src/index.js";
import { everyOrder, type Gates } from "../support/interleavings.js";
import { CALLS, NAMES, type Name, type Scene, x } from "../support/mixed-calls.js";

/** What the engines of the current order wait at. */
let gates: Gates;
/** How many calls the workers take at a time. */
let places = 1;
let worker: OpenRung["rung"]["worker"] = "private-memory";
/** The runner in use. */
let current: GatedRunner;
const kernels = new Map<string, Promise<Kernels>>();

vi.mock(import("../../web/src/backends/wasm/rung.js"), async (original) => {
  const real = await original();
  const openRung: typeof real.openRung = async (rung, module, overrides, previous) => {
    const alone = { variant: "wasm-simd", worker: null } as const;
    // All engines share an instance of each module, because loading one takes long.
    const loading = kernels.get(module) ?? real.openRung(alone, module, overrides, null).then((it) => it.kernels);
    kernels.set(module, loading);
    const own = await loading;
    if (module !== "core" || previous !== null) await gates.pass(`open ${module}`);
    current = new GatedRunner(own);
    return { rung: { ...rung, worker }, module, kernels: own, runner: current };
  };
  return { ...real, openRung };
});

/** Computes at once, as a worker reads its inputs at once, and hands the results over when its gate opens. */
class GatedRunner implements Runner {
  readonly #inner: BlockingRunner;
  readonly #gates = gates;
  #end = (_lost: WorkerLost): void => {};
  readonly #ended = new Promise<never>((_, reject) => {
    this.#end = reject;
  });
  readonly threads = places;
  readonly calls = places;
  readonly threadReasons: string[] = [];
  readonly memoryBytes = 0;
  lost: WorkerLost | null = null;

  constructor(own: Kernels) {
    this.#inner = new BlockingRunner(own);
    this.#ended.catch(() => {});
  }

  async run(job: Job): Promise<Finished> {
    const finished = this.#inner.run(job);
    await Promise.race([this.#gates.pass("run"), this.#ended]);
    return finished;
  }

  lose(): void {
    this.lost = new WorkerLost("it was terminated");
    this.#end(this.lost);
  }

  dispose(): void {
    this.#end(new WorkerLost("the engine was disposed"));
  }

  interrupt(): void {}
  forget(): void {}
}

/** Those whose orders are few enough to try three of them together, or something beside them. */
const SHORT: readonly Name[] = ["linear", "vjp", "layer"];

/** What happens beside the calls, at any time. */
type Accident = "abort" | "dispose" | "lose" | null;

/** The calls begin at any time, in this order. They succeed, or end with an error where something happens. */
function together(names: readonly Name[], accident: Accident = null) {
  return async (order: Gates): Promise<void> => {
    gates = order;
    using heed = await createHeed({ variant: "simd", offload: true });
    const cache = await heed.createCache({ kvHeads: 1, headDim: 4, maxLength: 8 });
    const controller = new AbortController();
    const scene: Scene = { heed, cache, signal: controller.signal };
    const calls: Promise<unknown>[] = [];
    const begin = async (): Promise<void> => {
      for (const name of names) {
        await order.pass(`begin ${name}`);
        calls.push(CALLS[name](scene));
        calls.at(-1)?.catch(() => {});
      }
    };
    const happens = accident !== null && order.pass(accident);
    const act = async (): Promise<void> => {
      await happens;
      if (accident === "abort") controller.abort();
      if (accident === "dispose") heed.dispose();
      if (accident === "lose") current.lose();
    };
    await Promise.all([begin(), act()]);
    for (const end of await Promise.allSettled(calls)) {
      if (end.status === "fulfilled") continue;
      if (accident === null) throw end.reason;
      expect(end.reason).toMatchObject({ name: "HeedError" });
    }
    // The next call is right.
    if (accident === "abort" || accident === null) {
      const next = heed.attention(x, x, x);
      await order.pass("next");
      expect((await next).output.shape).toEqual(x.shape);
    }
  };
}

/** All choices of so many of them, in their order, the same one twice too. */
function* some(names: readonly Name[], count: number): Generator<readonly Name[]> {
  if (count === 0) yield [];
  else
    for (const [at, name] of names.entries())
      for (const rest of some(names.slice(at), count - 1)) yield [name, ...rest];
}

beforeAll(async () => {
  // What a process loads once is loaded before any order is told.
  for (const name of NAMES) await everyOrder(together([name]));
});

/** Runs every choice of so many of these calls, in their order and the other way round, in every order. */
async function explore(names: readonly Name[], size: number, accident: Accident): Promise<number> {
  let orders = 0;
  for (const chosen of some(names, size)) {
    orders += await everyOrder(together(chosen, accident));
    if (size > 1) orders += await everyOrder(together([...chosen].reverse(), accident));
  }
  return orders;
}

describe.each(["private-memory", "shared-memory"] as const)("workers with %s", (kind) => {
  const set = (count: number): void => {
    places = count;
    worker = kind;
  };

  test("three calls, one at a time", async () => {
    set(1);
    expect(await explore(SHORT, 3, null)).toBeGreaterThan(100);
  });

  test("two calls, two at a time", async () => {
    set(2);
    // Two steps of training have twenty runs between them, and half a million orders.
    const names = NAMES.filter((name) => name !== "training" && name !== "cached layer");
    expect(await explore(names, 2, null)).toBeGreaterThan(100);
  });

  test.each(["abort", "dispose", "lose"] as const)("two calls, one at a time, and %s", async (accident) => {
    set(1);
    expect(await explore(SHORT, 2, accident)).toBeGreaterThan(100);
  });

  test.each(["abort", "dispose", "lose"] as const)("a call of any kind, two at a time, and %s", async (accident) => {
    set(2);
    expect(await explore(NAMES, 1, accident)).toBeGreaterThan(10);
  });
});
