// WebGPU reports errors some time after the step that caused them. Here they become HeedErrors of the call that took the step.

import { HeedError } from "../../base/errors.js";
import type { ErrorFilter, GpuDevice } from "./gpu.js";

const FILTERS: readonly ErrorFilter[] = ["validation", "out-of-memory", "internal"];

/** Runs a synchronous step of a function of the caller's. `refused` resolves with the error that the device reports of it, or null. */
export function scoped<T>(
  device: GpuDevice,
  where: string,
  act: () => T,
): { readonly made: T; readonly refused: Promise<HeedError | null> } {
  for (const filter of FILTERS) device.pushErrorScope(filter);
  let made: T;
  try {
    made = act();
  } catch (error) {
    void popAll(device, where);
    throw error;
  }
  return { made, refused: popAll(device, where) };
}

async function popAll(device: GpuDevice, where: string): Promise<HeedError | null> {
  const popped = [...FILTERS].reverse().map(async (filter) => {
    // On a device that is lost there is nothing to pop; the loss itself is told to whoever waits.
    const error = await device.popErrorScope().catch(() => null);
    return error === null ? null : asHeedError(where, filter, error.message);
  });
  return (await Promise.all(popped)).find((error) => error !== null) ?? null;
}

function asHeedError(where: string, filter: ErrorFilter, message: string): HeedError {
  if (filter === "out-of-memory") return new HeedError("memory", `${where}: the GPU has no room: ${message}`);
  return new HeedError("load", `${where}: the GPU refused the call: ${message}`);
}
