// Results are right with any tuning, and later calls use the tuning that was measured.

import { afterAll, describe, expect, test } from "vitest";
import { attend } from "../../web/src/api/attention.js";
import { OpenDevice } from "../../web/src/backends/webgpu/device.js";
import type { GpuAdapterInfo } from "../../web/src/backends/webgpu/gpu.js";
import { GpuBackend } from "../../web/src/backends/webgpu/gpu-backend.js";
import { kernelClass, tuningsOf } from "../../web/src/backends/webgpu/tuning.js";
import { autotune, remember } from "../../web/src/webgpu.js";
import { caseOf, EVERYTHING, type EverythingResult, errorOf, firstError } from "../support/cases.js";
import { openBackend } from "../support/engines.js";
import { WGSL } from "../support/error-model.js";
import { testDevice } from "../support/gpu-device.js";
import { Random } from "../support/random.js";

/** The name differs from the adapters that other tests tune. */
const NAMED: GpuAdapterInfo = { vendor: "tuned", architecture: "", description: "" };

const tested = await testDevice();
afterAll(() => {
  tested.device.destroy();
  expect(tested.uncaptured).toEqual([]);
});

describe("any tuning gives right results", () => {
  const sizes = { batch: 1, heads: 2, kvHeads: 1, queryLength: 40, keyLength: 600, headDim: 8, valueDim: 8 };
  const kernel = kernelClass(2, 2, 64);
  const one = caseOf(new Random(3), "tuned", sizes);

  const plain = { shared: true, subgroups: true, memory: 16_384, rows: 64, step: 4, groups: 256 };
  test.each([
    { ...plain, shared: false, step: 2 },
    { ...plain, shared: false, step: 16, groups: 1 },
    { ...plain, subgroups: false, rows: 32, groups: 1024 },
    { ...plain, memory: 32_768, rows: 128, groups: 8 },
  ])(
    "%o",
    async (tuning) => {
      const open = new OpenDevice(tested.device, false, NAMED);
      remember({ adapter: open.adapter, kernel, tuning, ms: 1, untunedMs: 1 });
      expect(open.machine.tunings?.get(kernel)).toEqual(tuning);
      const wasm = await openBackend({ variant: "simd", worker: null });
      const backend = new GpuBackend({ wasm, costs: null, open, reopen: null });
      const { query, key, value } = one;
      const got = await attend(backend, { query, key, value }, { ...one.options, ...EVERYTHING });
      expect(firstError(one, got as EverythingResult, WGSL)).toBeNull();
      backend.dispose();
    },
    30_000,
  );
});

test("autotune finds a tuning that is no slower than the default, and remembers it for the adapter", async () => {
  const { device } = tested;
  const options = { device, heads: 2, kvHeads: 1, queries: 16, keys: 512, headDim: 8, causal: true };
  const tuned = await autotune(options);
  expect(tuned.ms).toBeLessThanOrEqual(tuned.untunedMs);
  expect(tuned.kernel).toBe(kernelClass(2, 2, 32));
  expect(tuningsOf(tuned.adapter).get(tuned.kernel)).toEqual(tuned.tuning);
  expect(JSON.parse(JSON.stringify(tuned))).toEqual(tuned);
  tuningsOf(tuned.adapter).clear();
  remember(tuned);
  expect(new OpenDevice(device, false, device.adapterInfo).machine.tunings?.get(tuned.kernel)).toEqual(tuned.tuning);
  tuningsOf(tuned.adapter).clear();
});

test("autotune refuses sizes that are no whole numbers, and remember a tuning that is none", async () => {
  const { device } = tested;
  expect(await errorOf(() => autotune({ device, queries: 0 }))).toMatchObject({
    code: "option",
    message: "autotune: queries must be a whole number from 1 on, got 0",
  });
  expect((await errorOf(() => autotune({ device, heads: 3, kvHeads: 2 }))).code).toBe("option");
  const tuning = { shared: true, subgroups: true, memory: 16_384, rows: 64, step: 3, groups: 256 };
  expect((await errorOf(() => remember({ adapter: "", kernel: "", tuning, ms: 1, untunedMs: 1 }))).code).toBe("option");
});
