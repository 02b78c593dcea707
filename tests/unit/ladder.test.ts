// The fallback chain: reasons name the rungs that were refused, and the next one works. Here relaxed SIMD cannot be loaded.

import { expect, test, vi } from "vitest";
import { Residents } from "../../web/src/backends/wasm/residents.js";
import { createHeed, HeedError } from "../../web/src/index.js";
import { probe } from "../../web/src/platform/features.js";
import { currentHost } from "../../web/src/platform/host.js";
import { ownWorkers } from "../support/own-workers.js";

vi.mock(import("../../web/src/backends/wasm/inlined.js"), async (original) => {
  const inlined = await original();
  const lost = (): Promise<never> => Promise.reject(new Error("the network is gone"));
  const core = { ...inlined.MODULES.core, "wasm-relaxed": lost, "wasm-relaxed-threads": lost };
  return { ...inlined, MODULES: { ...inlined.MODULES, core } };
});

test("where relaxed SIMD cannot be loaded, plain SIMD computes in workers, and reasons say why", async () => {
  expect(probe(currentHost()).relaxedSimd).toBe(true);
  using heed = await createHeed({ threads: 2, offload: true });
  expect(heed.capabilities).toMatchObject({ variant: "simd", worker: "shared-memory", threads: 2 });
  expect(heed.capabilities.reasons.join()).toMatch(
    /wasm-relaxed-threads with shared-memory worker was refused: .*gone/,
  );
  const one = { data: Float32Array.of(1, 2), shape: [1, 2] };
  expect((await heed.attention(one, one, one)).output.data).toEqual(one.data);
});

test("where the wanted variant cannot be loaded, the error has every reason", async () => {
  const refused = createHeed({ variant: "relaxed" });
  await expect(refused).rejects.toMatchObject({ name: "HeedError", code: "load" });
  await expect(refused).rejects.toThrow(
    /shared-memory worker was refused.*private-memory worker was refused.*no worker/,
  );
});

test("silent workers are waited for once, and then the calling thread computes", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const silent = { addEventListener: () => {}, postMessage: () => {}, terminate: () => {} };
    const opening = createHeed({ variant: "simd", threads: 2, wasm: { workerFactory: () => silent as never } });
    await vi.waitUntil(() => vi.getTimerCount() > 0, { timeout: 10_000 });
    await vi.advanceTimersByTimeAsync(15_000);
    using heed = await opening;
    expect(heed.capabilities).toMatchObject({ worker: null, threads: 1 });
    expect(heed.capabilities.reasons.join()).toContain("it did not start");
    const one = { data: Float32Array.of(1, 2), shape: [1, 2] };
    expect((await heed.attention(one, one, one)).output.data).toEqual(one.data);
  } finally {
    vi.useRealTimers();
  }
});

test("a page that is frozen while its workers start has them when it goes on", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  try {
    const held: (() => void)[] = [];
    const { wasm } = ownWorkers((worker) => {
      const post = worker.postMessage.bind(worker);
      worker.postMessage = (...given) => {
        held.push(() => post(...given));
      };
    });
    const opening = createHeed({ variant: "simd", threads: 2, wasm });
    await vi.waitUntil(() => held.length === 2, { timeout: 10_000 });
    // Whatever time has passed, each timer is due once, before anything that a worker has to say.
    vi.runOnlyPendingTimers();
    for (const go of held.splice(0)) go();
    using heed = await opening;
    expect(heed.capabilities).toMatchObject({ worker: "shared-memory", threads: 2 });
  } finally {
    vi.useRealTimers();
  }
});

test("tensors that do not all fit into another memory stay where they are", () => {
  const residents = new Residents(() => {});
  const all = [64, 128, 192].map((address) => residents.add(address, 4, "f32"));
  const released: number[] = [];
  let next = 1000;
  const to = {
    upload: () => {
      next += 64;
      if (next > 1128) throw new HeedError("memory", "full");
      return next;
    },
    release: (address: number) => released.push(address),
  };
  expect(() => residents.move({} as never, to as never)).toThrow("full");
  expect(all.map(({ address }) => address)).toEqual([64, 128, 192]);
  expect(released).toEqual([1064, 1128]);
  next = 500;
  residents.move({} as never, to as never);
  expect(all.map(({ address }) => address)).toEqual([564, 628, 692]);
});
