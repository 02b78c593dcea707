// An engine that is lost in a pass of a model, at each of its calls: the pass fails with a HeedError, and the next is right, caches included.

import { expect, test, vi } from "vitest";
import type { FrontModule, GlueOptions } from "../../../web/src/backends/wasm/variants.js";
import { type Heed, HeedError } from "../../../web/src/index.js";
import { LlamaModel } from "../../../web/src/layers/index.js";
import { differentIndex } from "../../support/cases.js";
import { type EngineKind, FEW_KINDS, nameOf, openKind } from "../../support/engines.js";
import { madeByTransformers } from "../../support/model-files.js";
import { ownWorkers } from "../../support/own-workers.js";

/** What is to go wrong, just before call number `at`; 0: nothing. */
const fault = { calls: 0, at: 0, strike: (): void => {} };

function counted<R>(call: () => R): R {
  fault.calls += 1;
  if (fault.calls === fault.at) fault.strike();
  return call();
}

/** The functions of the front instance that are counted: those by which the calls of an engine are computed. */
let computing: "run" | "_heed_post" | null = null;

const watched = (front: FrontModule): FrontModule =>
  new Proxy(front, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || name !== computing) return value;
      return (...given: unknown[]) => counted(() => Reflect.apply(value, target, given));
    },
  });

vi.mock(import("../../../web/src/backends/wasm/inlined-more.js"), async (original) => {
  const { full, ...others } = await original();
  const loaders = Object.entries(full).map(([name, load]) => [
    name,
    async () => {
      const variant = await load();
      return { ...variant, default: async (options: GlueOptions) => watched(await variant.default(options)) };
    },
  ]);
  return { ...others, full: Object.fromEntries(loaders) as typeof full };
});

/** An engine whose loss `fault` causes: its workers end, or its instance on the calling thread traps. */
async function fragile(kind: EngineKind): Promise<Heed> {
  computing = kind.worker === null ? "run" : kind.worker === "shared-memory" ? "_heed_post" : null;
  if (kind.worker === null) {
    fault.strike = () => {
      throw new WebAssembly.RuntimeError("unreachable");
    };
    return openKind(kind);
  }
  const { workers, wasm } = ownWorkers((worker) => {
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (message: { readonly kind: string }, transfer) => {
      if (message.kind === "start" || message.kind === "forget") post(message, transfer);
      else counted(() => post(message, transfer));
    };
  });
  // From then on a worker executes nothing, so it never computes the call.
  fault.strike = () => {
    for (const worker of workers) void worker.terminate();
  };
  return openKind(kind, { threads: 1, wasm });
}

const { config, parameters, ids } = madeByTransformers("llama");

/** The logits of a text and of a next token, in an engine that is lost at a call of the first pass, if that has so many. */
async function twoPasses(engine: Heed, lostAt: number) {
  const model = new LlamaModel({ ...config, num_hidden_layers: 1 }, { engine }).load(parameters);
  using cache = await engine.createCache({ kvHeads: 2, headDim: 4, maxLength: 16 });
  const pass = async (tokens: readonly number[]) => (await model.forward(tokens, { caches: [cache] })).logits.data;
  Object.assign(fault, { calls: 0, at: lostAt });
  let error: unknown = null;
  let first = await pass(ids).catch((thrown: unknown) => {
    error = thrown;
    expect(cache.length).toBe(0);
    return null;
  });
  const wasLost = lostAt > 0 && fault.calls >= lostAt;
  fault.at = 0;
  first ??= await pass(ids);
  return { logits: [first, await pass([3])], error, wasLost };
}

test.each(FEW_KINDS.map((kind) => [nameOf(kind), kind] as const))(
  "%s: lost at any call of a pass, the pass fails, and the next one is right",
  { timeout: 120_000 },
  async (_, kind) => {
    using sound = await fragile(kind);
    const wanted = await twoPasses(sound, 0);
    expect(wanted.error).toBeNull();
    for (let at = 1; ; at++) {
      using engine = await fragile(kind);
      const got = await twoPasses(engine, at);
      for (const [pass, logits] of wanted.logits.entries())
        expect(differentIndex(got.logits[pass] ?? new Float32Array(), logits)).toBe(-1);
      if (!got.wasLost) {
        expect(at).toBeGreaterThan(1);
        break;
      }
      expect(got.error).toBeInstanceOf(HeedError);
      // The call that traps fails for want of memory, and what is recorded meanwhile because of the lost instance.
      const codes = kind.worker === null ? ["memory", "device-lost"] : ["device-lost"];
      expect(codes).toContain((got.error as HeedError).code);
    }
  },
);
