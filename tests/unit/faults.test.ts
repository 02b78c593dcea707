// Everything that an engine asks of the machine fails once: each allocation, in the engine and in its workers, each growth of a memory, each
// message to a worker, the worker itself. A call gives the right result all the same, or rejects with a HeedError and leaves everything
// as it was; and the next one is right.

import { afterAll, describe, expect, test } from "vitest";
import { Kernels } from "../../web/src/backends/wasm/kernels.js";
import { type Heed, HeedError } from "../../web/src/index.js";
import { LlamaModel, MLP } from "../../web/src/layers/index.js";
import { loadModel } from "../../web/src/models/index.js";
import { AdamW, gradients, meanSquaredError, saveCheckpoint } from "../../web/src/train/index.js";
import { cases } from "../support/cases.js";
import { type EngineKind, FEW_KINDS, nameOf, openKind } from "../support/engines.js";
import { madeByTransformers } from "../support/model-files.js";
import { ownWorkers } from "../support/own-workers.js";
import { Random } from "../support/random.js";
import { folderOf } from "../support/small-model.js";
import { drawnBy } from "../support/tensors.js";

/** How many times something was asked for, which of them fails (0: none), and how. */
const fault = { asked: 0, fails: 0 };

function failsNow(): boolean {
  fault.asked += 1;
  return fault.asked === fault.fails;
}

/** Counters that workers share, in the order of `fault`. */
const ofWorkers = new Int32Array(new SharedArrayBuffer(8));

/** In a worker: one allocation finds no room. */
const NO_ROOM_IN_WORKERS = `{
  const fault = require("node:worker_threads").workerData;
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (...given) => {
    const { exports } = await instantiate.apply(WebAssembly, given);
    const heed_allocate = (bytes) =>
      Atomics.add(fault, 0, 1) + 1 === Atomics.load(fault, 1) ? 0 : exports.heed_allocate(bytes);
    return { exports: { ...exports, heed_allocate } };
  };
}
`;

const { allocate, post } = Kernels.prototype;
const { grow } = WebAssembly.Memory.prototype;
function mend(): void {
  Kernels.prototype.allocate = allocate;
  Kernels.prototype.post = post;
  WebAssembly.Memory.prototype.grow = grow;
}

/** Workers whose messages are counted. `strike` is called before the one that fails. */
const counting = (strike: (workers: readonly { terminate(): Promise<number> }[]) => void) => {
  const own = ownWorkers((worker) => {
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (message: { readonly kind: string }, transfer) => {
      if (message.kind === "block" && failsNow()) strike(own.workers);
      post(message, transfer);
    };
  });
  return own;
};

interface Fault {
  readonly name: string;
  readonly open: (kind: EngineKind) => Promise<Heed>;
  /** On which engines there is something to fail. */
  readonly has: (kind: EngineKind) => boolean;
  /** Whether an engine that met one is another: it takes a lower step of its ladder, or keeps the memory that it has. */
  readonly reopens?: boolean;
}

const FAULTS: readonly Fault[] = [
  {
    name: "an allocation",
    has: () => true,
    open: (kind) => {
      Kernels.prototype.allocate = function (bytes) {
        if (!failsNow()) return allocate.call(this, bytes);
        throw new HeedError("memory", `heed: the engine's memory has no room for ${bytes} more bytes`);
      };
      return openKind(kind);
    },
  },
  {
    name: "the growth of a memory",
    has: () => true,
    reopens: true,
    open: (kind) => {
      WebAssembly.Memory.prototype.grow = function (pages) {
        // From then on, as a machine without memory would: the allocator asks again, for less.
        if (pages > 0 && fault.fails > 0 && (failsNow() || fault.asked > fault.fails))
          throw new RangeError("no memory");
        return grow.call(this, pages);
      };
      return openKind(kind);
    },
  },
  {
    name: "an allocation of a worker",
    has: ({ worker }) => worker === "private-memory",
    open: (kind) => openKind(kind, { threads: 1, wasm: ownWorkers(() => {}, NO_ROOM_IN_WORKERS, ofWorkers).wasm }),
  },
  {
    name: "a message to a worker",
    has: ({ worker }) => worker === "private-memory",
    reopens: true,
    open: (kind) => {
      const { wasm } = counting(() => {
        throw new Error("it cannot be sent");
      });
      return openKind(kind, { threads: 2, wasm });
    },
  },
  {
    name: "the workers",
    has: ({ worker }) => worker !== null,
    reopens: true,
    open: (kind) => {
      const end = (workers: readonly { terminate(): Promise<number> }[]): void => {
        for (const worker of workers) void worker.terminate();
      };
      const { workers, wasm } = counting(end);
      Kernels.prototype.post = function (...given) {
        // From then on they execute nothing.
        if (failsNow()) end(workers);
        post.apply(this, given);
      };
      return openKind(kind, { threads: 1, wasm });
    },
  },
];

interface Scene {
  /** Resolves to the numbers, or to nothing where `state` has them. */
  readonly run: () => Promise<unknown>;
  /** What a call that fails must leave as it was. */
  readonly state?: () => Promise<unknown>;
  readonly dispose?: () => void;
}

const resultOf = async ({ run, state }: Scene): Promise<unknown> => (await run()) ?? (await state?.());

const numbers = drawnBy(new Random(1010));
const problem = cases(47, 1)[0] ?? raise();
const [rows, target] = [numbers(40, 24), numbers(40, 24)];
const [token, tokens] = [numbers(2, 3, 8), numbers(2, 120, 8)];
/** More than an engine has at first. */
const [few, many] = [numbers(2, 2, 64), numbers(2, 2 ** 15, 64)];
const folder = folderOf("llama").files;
const llama = madeByTransformers("llama");

/** With workers it asks for what layers ask for, and takes long. */
const LONG = "loading a model";

const SCENES: Readonly<Record<string, (engine: Heed) => Promise<Scene>>> = {
  forward: async (engine) => {
    const { query, key, value, options } = problem;
    return {
      run: async () => (await engine.attention(query, key, value, { ...options, return: { weights: true } })).output,
    };
  },
  "forward of much": async (engine) => ({
    run: async () => (await engine.attention(few, many, many)).output,
  }),
  backward: async (engine) => ({
    run: async () => {
      const { backward, output, release } = await engine.attentionVjp(tokens, tokens, tokens, { causal: true });
      try {
        return await backward({ data: output.data, shape: output.shape });
      } finally {
        // A backward call that failed can be made again.
        release();
      }
    },
  }),
  layers: async (engine) => {
    const model = new LlamaModel({ ...llama.config, num_hidden_layers: 1 }, { engine }).load(llama.parameters);
    return { run: async () => (await model.forward(llama.ids)).logits, dispose: () => model.dispose() };
  },
  "training step": async (engine) => {
    const model = new MLP({ dim: 24, hidden: 32, engine }).init({ seed: 3 });
    const optimizer = new AdamW(model);
    const step = async (): Promise<void> => {
      await gradients(model, async (pass) => ({
        loss: await meanSquaredError(await model.forward(rows, { pass }), target, { pass }),
      }));
      await optimizer.step();
    };
    await step();
    const state = async () => [...(await saveCheckpoint(model, optimizer, { step: optimizer.steps }))];
    const run = async (): Promise<void> => {
      try {
        await step();
      } catch (error) {
        // What a pass left of gradients is added to those of the next.
        await optimizer.clear();
        throw error;
      }
    };
    return {
      run,
      state,
      dispose: () => {
        optimizer.dispose();
        model.dispose();
      },
    };
  },
  cache: async (engine) => {
    const cache = await engine.createCache({ kvHeads: 2, headDim: 8, maxLength: 300, dtype: "f32" });
    await cache.append(tokens, tokens);
    return {
      run: async () => {
        const { output } = await engine.attention(token, tokens, tokens, { cache });
        return { output, length: cache.length };
      },
      state: async () => cache.length,
      dispose: () => cache.dispose(),
    };
  },
  [LONG]: async (engine) => ({
    run: async () => {
      const lm = await loadModel(folder, { engine });
      try {
        return (await lm.model.forward([1, 2, 3])).logits?.data;
      } finally {
        lm.dispose();
      }
    },
  }),
};

/** Counts faults that were met by a result, and by an error. */
const counts = new Map<string, { right: number; refused: number }>();
afterAll(() => {
  for (const [name, { right, refused }] of counts) {
    if (right + refused === 0) continue;
    console.info(`${name}: ${right + refused} faults, of which ${right} gave the result and ${refused} a HeedError`);
  }
});

function arm(fails: number): void {
  Object.assign(fault, { asked: 0, fails });
  ofWorkers.set([0, fails]);
}
const asked = (): number => fault.asked + (ofWorkers[0] ?? 0);

describe.each(
  FAULTS.flatMap((of) => FEW_KINDS.filter(of.has).map((kind) => [of.name, nameOf(kind), of, kind] as const)),
)("without %s, %s", (_name, _kind, { name, open, reopens = false }, kind) => {
  test.each(Object.entries(SCENES).filter(([scene]) => kind.worker === null || scene !== LONG))(
    "%s",
    async (scene, make) => {
      arm(0);
      const told = `${name}, ${scene}`;
      const count = counts.get(told) ?? { right: 0, refused: 0 };
      counts.set(told, count);
      let engine = await open(kind);
      try {
        const sound = await make(engine);
        const wanted = await resultOf(sound);
        sound.dispose?.();
        for (let at = 1; ; at++) {
          if (reopens) {
            engine.dispose();
            engine = await open(kind);
          }
          const one = await make(engine);
          const before = await one.state?.();
          arm(at);
          const got = await one.run().catch((error: unknown) => error);
          const wasMet = asked() >= at;
          arm(0);
          const where = `${told}, number ${at}`;
          if (got instanceof Error) {
            expect(got, where).toBeInstanceOf(HeedError);
            expect(await one.state?.(), `${where}: ${got.message}`).toEqual(before);
            expect(await resultOf(one), `${where}: ${got.message}`).toEqual(wanted);
          } else {
            expect(got ?? (await one.state?.()), where).toEqual(wanted);
          }
          if (wasMet) count[got instanceof Error ? "refused" : "right"] += 1;
          one.dispose?.();
          expect(engine.memory().tensors, where).toBe(0);
          if (!wasMet) break;
        }
      } finally {
        engine.dispose();
        mend();
      }
    },
  );
});

test.each(["shared-memory", "private-memory"] as const)(
  "workers that cannot be made, %s: the calling thread computes",
  async (worker) => {
    const wasm = {
      workerFactory: (): never => {
        throw new Error("workers are forbidden");
      },
    };
    const error = await openKind({ variant: "simd", worker }, { wasm }).catch((error: unknown) => error);
    expect(String(error)).toContain('"worker":null');
  },
);

function raise(): never {
  throw new Error("there is a case");
}
