// A GPU device of a test's own, which hears what WebGPU would otherwise tell nobody. Needs no test runner.

import type { Gpu, GpuDevice } from "../../web/src/backends/webgpu/gpu.js";

export interface TestDevice {
  readonly device: GpuDevice & GPUDevice & EventTarget;
  /** What was reported to no error scope. */
  readonly uncaptured: string[];
}

/** Features that kernels can have from an adapter. */
export const FEATURES = ["shader-f16", "subgroups"] as const;

/** Fails where there is no adapter: these tests are not skipped. Of `features` the device has those that its adapter has. */
export async function testDevice(features: readonly string[] = FEATURES): Promise<TestDevice> {
  const { gpu } = navigator as unknown as { readonly gpu?: Gpu };
  const adapter = await gpu?.requestAdapter();
  if (adapter === null || adapter === undefined) throw new Error("no WebGPU adapter: these tests need one");
  const device = (await adapter.requestDevice({
    requiredFeatures: features.filter((feature) => adapter.features.has(feature)),
    requiredLimits: { maxStorageBufferBindingSize: adapter.limits.maxStorageBufferBindingSize },
  })) as TestDevice["device"];
  const uncaptured: string[] = [];
  device.addEventListener("uncapturederror", (event) => {
    if ("error" in event) uncaptured.push(String((event.error as { readonly message: string }).message));
  });
  return { device, uncaptured };
}
