// What a call takes of the GPU's memory: every buffer that its device makes is counted, whatever the plan says.

import { expect, test } from "vitest";
import { createHeed } from "../../web/src/index.js";
import { type TestDevice, testDevice } from "../support/gpu-device.js";

const [HEADS, DIM] = [8, 64];
const INPUTS_AND_OUTPUT = 4;

/** The most bytes that buffers have at a time, from now on. */
function countBuffers(device: TestDevice["device"]): () => number {
  let bytes = 0;
  let most = 0;
  const create = device.createBuffer.bind(device);
  device.createBuffer = (descriptor: Parameters<typeof create>[0]) => {
    const buffer = create(descriptor);
    bytes += buffer.size;
    most = Math.max(most, bytes);
    const destroy = buffer.destroy.bind(buffer);
    buffer.destroy = () => {
      bytes -= buffer.size;
      destroy();
    };
    return buffer;
  };
  return () => most;
}

async function bytesOf(length: number, options: { causal: boolean }): Promise<number> {
  const { device } = await testDevice();
  const most = countBuffers(device);
  using heed = await createHeed({ backend: "webgpu", device });
  const tensor = heed.zeros([HEADS, length, DIM]);
  await heed.attention(tensor, tensor, tensor, options);
  const bytes = most();
  device.destroy();
  return bytes;
}

test.each([false, true])("takes twice the memory for twice the length (causal: %s)", async (causal) => {
  const lengths = [128, 256, 512];
  const bytes = [];
  for (const length of lengths) bytes.push(await bytesOf(length, { causal }));
  const [short = 0, middle = 0, long = 0] = bytes;
  expect(middle / short).toBeLessThan(2.05);
  expect(long / middle).toBeLessThan(2.05);
  // Far from the scores, of which there are HEADS * 512 * 512: inputs, output, and what is read back.
  expect(long).toBeLessThan((INPUTS_AND_OUTPUT + 1) * 4 * HEADS * 512 * DIM);
});
