// An engine on a GPU device of a test's own, and the question whether anything was told to nobody.

import { expect } from "vitest";
import { type CreateOptions, createHeed, type Heed } from "../../web/src/index.js";
import { type TestDevice, testDevice } from "./gpu-device.js";

/** `close` is for the end. */
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
