// A GPU device of a test's own, which hears what WebGPU would otherwise tell nobody.

import { expect } from "vitest";
import type { Gpu, GpuDevice } from "../../web/src/backends/webgpu/gpu.js";
import { type CreateOptions, createHeed, type Heed } from "../../web/src/index.js";

export interface TestDevice {
  readonly device: GpuDevice & GPUDevice & EventTarget;
  /** What was reported to no error scope. */
  readonly uncaptured: string[];
}

/** Fails where there is no adapter: these tests are not skipped. */
export async function testDevice(): Promise<TestDevice> {
  const { gpu } = navigator as unknown as { readonly gpu?: Gpu };
  const adapter = await gpu?.requestAdapter();
  if (adapter === null || adapter === undefined) throw new Error("no WebGPU adapter: these tests need one");
  const device = (await adapter.requestDevice({
    requiredFeatures: ["shader-f16", "subgroups"].filter((feature) => adapter.features.has(feature)),
    requiredLimits: { maxStorageBufferBindingSize: adapter.limits.maxStorageBufferBindingSize },
  })) as GpuDevice & EventTarget;
  const uncaptured: string[] = [];
  device.addEventListener("uncapturederror", (event) => {
    if ("error" in event) uncaptured.push(String((event.error as { readonly message: string }).message));
  });
  return { device, uncaptured };
}

/** An engine that computes on such a device, and what is to be asked once it is done. */
export async function openTested(
  options: CreateOptions = {},
): Promise<{ heed: Heed; tested: TestDevice; close: () => void }> {
  const tested = await testDevice();
  const heed = await createHeed({ backend: "webgpu", device: tested.device, ...options });
  const close = (): void => {
    heed.dispose();
    tested.device.destroy();
    expect(tested.uncaptured).toEqual([]);
  };
  return { heed, tested, close };
}
