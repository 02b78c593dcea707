// The GPU memory that a call takes. Every buffer that the device makes is counted, whatever the plan says.

import { expect, test } from "vitest";
import { createHeed } from "../../web/src/index.js";
import { type TestDevice, testDevice } from "../support/gpu-device.js";

const [HEADS, DIM] = [8, 64];
const INPUTS_AND_OUTPUT = 4;

/** Counts the bytes of buffers from now on. What is returned says how many there were at most at a time. */
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

test.each([false, true])(
  "a call takes four times the memory for four times the length (causal: %s)",
  async (causal) => {
    const short = await bytesOf(128, { causal });
    const long = await bytesOf(512, { causal });
    expect(long / short).toBeLessThan(4.1);
    // Inputs, output, and what is read back take far less than the HEADS * 512 * 512 scores would.
    expect(long).toBeLessThan((INPUTS_AND_OUTPUT + 1) * 4 * HEADS * 512 * DIM);
  },
);
