// The bytes of a GPU buffer, copied out without stalling the queue.

import type { OpenDevice } from "./device.js";
import { scoped } from "./error-scopes.js";
import { type GpuBuffer, MAP_READ } from "./gpu.js";
import { unlessLost } from "./gpu-call.js";

export async function readBuffer(
  open: OpenDevice,
  where: string,
  source: GpuBuffer,
  bytes: number,
): Promise<ArrayBuffer> {
  const { device, pool } = open;
  const whole = Math.ceil(bytes / 4) * 4;
  const { made: staging, refused } = scoped(device, where, () => {
    const target = pool.take("readback", whole);
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(source, 0, target, 0, whole);
    device.queue.submit([encoder.finish()]);
    return target;
  });
  let isGood = false;
  try {
    const error = await unlessLost(open, where, refused);
    if (error !== null) throw error;
    await unlessLost(open, where, staging.mapAsync(MAP_READ));
    const copy = staging.getMappedRange().slice(0, bytes);
    staging.unmap();
    isGood = true;
    return copy;
  } finally {
    if (isGood) pool.give("readback", staging);
    else pool.drop(staging);
  }
}
