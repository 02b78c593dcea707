// An engine on a GPU device of a test's own, which checks at its end that no error was reported outside of error scopes.

import { expect } from "vitest";
import { adapterName, tuningsOf, untuned } from "../../web/src/backends/webgpu/tuning.js";
import { type CreateOptions, createHeed, type Heed } from "../../web/src/index.js";
import { type TestDevice, testDevice } from "./gpu-device.js";

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

/**
 * Has calls of these classes computed by kernels whose threads share what they read, which a software adapter does not choose by itself.
 * Returns what ends it.
 */
export function shareKernels({ device }: TestDevice, classes: readonly string[]): () => void {
  const tunings = tuningsOf(adapterName(device.adapterInfo));
  for (const named of classes) tunings.set(named, { ...untuned(true), shared: true });
  return () => {
    for (const named of classes) tunings.delete(named);
  };
}
