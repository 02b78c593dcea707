// One call on a device: it uploads inputs, dispatches the steps of the plan, and reads results back or keeps them on the GPU.

import { causeText, HeedError } from "../../base/errors.js";
import type { Computed, Operand, Resident } from "../backend.js";
import { fill } from "../fill.js";
import type { BufferKind } from "./buffer-pool.js";
import type { OpenDevice } from "./device.js";
import { endOf } from "./ending.js";
import { scoped } from "./error-scopes.js";
import { type BindingEntry, type GpuBuffer, MAP_READ } from "./gpu.js";
import type { Pipeline } from "./pipelines.js";
import type { Plan, Role } from "./plan.js";
import { GpuResident } from "./residents.js";

/** The pooled buffers that a call holds. */
class HeldBuffers {
  readonly #open: OpenDevice;
  readonly #buffers: [BufferKind, GpuBuffer][] = [];

  constructor(open: OpenDevice) {
    this.#open = open;
  }

  take(kind: BufferKind, bytes: number): GpuBuffer {
    const buffer = this.#open.pool.take(kind, bytes);
    this.#buffers.push([kind, buffer]);
    return buffer;
  }

  /** Hands a buffer over: the call no longer gives it back. */
  keep(kept: GpuBuffer): void {
    const index = this.#buffers.findIndex(([, buffer]) => buffer === kept);
    if (index !== -1) this.#buffers.splice(index, 1);
  }

  /** Buffers of a failed call are dropped, because their state is unknown. */
  giveBack(isGood: boolean): void {
    for (const [kind, buffer] of this.#buffers) {
      if (isGood) this.#open.pool.give(kind, buffer);
      else this.#open.pool.drop(buffer);
    }
    this.#buffers.length = 0;
  }
}

/** The part of a problem that a call needs: operands by the role of their buffer, and where the results go. */
export interface Given extends Readonly<Partial<Record<Role, Operand | null>>> {
  /** The caller's array for the first result; null: a new one. */
  readonly into: Float32Array | null;
  readonly keep: boolean;
}

/** Arrays are read before this returns. Every resident of the problem is a GpuResident of this device. `where` is the caller's function. */
export function runOnGpu(open: OpenDevice, where: string, problem: Given, plan: Plan): Promise<readonly Computed[]> {
  const held = new HeldBuffers(open);
  try {
    const { made, refused } = scoped(open.device, where, () => upload(open, where, problem, plan, held));
    return finish(open, { where, problem, plan, held, inputs: made }, refused);
  } catch (error) {
    held.giveBack(false);
    throw error;
  }
}

interface Inputs {
  readonly buffers: ReadonlyMap<Role, GpuBuffer>;
  readonly uniforms: readonly GpuBuffer[];
}

interface Call {
  readonly where: string;
  readonly problem: Given;
  readonly plan: Plan;
  readonly held: HeldBuffers;
  readonly inputs: Inputs;
}

function upload({ device }: OpenDevice, where: string, problem: Given, plan: Plan, held: HeldBuffers): Inputs {
  const buffers = new Map<Role, GpuBuffer>();
  const operands: Readonly<Partial<Record<Role, Operand | null>>> = problem;
  for (const [role, bytes] of plan.bytes) {
    const source = operands[role]?.source;
    if (source?.kind === "resident") {
      buffers.set(role, bufferOf(source.resident));
      continue;
    }
    const buffer = held.take("storage", bytes);
    buffers.set(role, buffer);
    const array = (source?.kind === "array" ? source.array : undefined) ?? plan.uploads.get(role);
    if (array !== undefined) writeBytes(device, where, buffer, array, bytes);
  }
  const uniforms = plan.steps.map(({ uniform }) => {
    const buffer = held.take("uniform", uniform.byteLength);
    device.queue.writeBuffer(buffer, 0, uniform);
    return buffer;
  });
  return { buffers, uniforms };
}

/** The queue writes multiples of four bytes, so the last bytes are padded. */
export function writeBytes(
  { queue }: OpenDevice["device"],
  where: string,
  buffer: GpuBuffer,
  array: ArrayBufferView,
  expected: number,
): void {
  if (array.byteLength !== expected) {
    throw new HeedError("shape", `${where}: an input of ${expected} bytes lost its buffer or shrank while it was read`);
  }
  // The queue takes no shared memory.
  const { buffer: memory, byteOffset, byteLength } = array;
  const bytes = memory instanceof ArrayBuffer ? new Uint8Array(memory, byteOffset, byteLength) : copied(array);
  const whole = byteLength - (byteLength % 4);
  if (whole > 0) queue.writeBuffer(buffer, 0, bytes.subarray(0, whole));
  if (whole === byteLength) return;
  const last = new Uint8Array(4);
  last.set(bytes.subarray(whole));
  queue.writeBuffer(buffer, whole, last);
}

function copied({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(byteLength);
  copy.set(new Uint8Array(buffer, byteOffset, byteLength));
  return copy;
}

async function finish(
  open: OpenDevice,
  call: Call,
  uploading: Promise<HeedError | null>,
): Promise<readonly Computed[]> {
  const { where, plan, held } = call;
  let isGood = false;
  try {
    const compiling = Promise.all(plan.steps.map(({ kernel }) => open.pipelines.get(where, kernel)));
    const pipelines = await unlessLost(open, where, compiling);
    const { made, refused } = scoped(open.device, where, () => submit(open, call, pipelines));
    const error = await unlessLost(open, where, Promise.all([uploading, refused]));
    const first = error.find((one) => one !== null);
    if (first !== undefined && first !== null) throw first;
    const computed = await made();
    isGood = true;
    return computed;
  } finally {
    held.giveBack(isGood);
  }
}

/** Queues all steps, and returns a function that reads the results. */
function submit(open: OpenDevice, call: Call, pipelines: readonly Pipeline[]): () => Promise<readonly Computed[]> {
  const { device } = open;
  const { where, plan, problem, held, inputs } = call;
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  for (const [index, step] of plan.steps.entries()) {
    const { pipeline, layout } = pipelines[index] ?? missing();
    const uniform = inputs.uniforms[index] ?? missing();
    const entries: BindingEntry[] = [{ binding: 0, resource: { buffer: uniform, size: step.uniform.byteLength } }];
    for (const role of step.buffers) {
      const size = Math.max(16, Math.ceil((plan.bytes.get(role) ?? 0) / 16) * 16);
      const buffer = inputs.buffers.get(role) ?? missing();
      entries.push({ binding: entries.length, resource: { buffer, size: Math.min(size, buffer.size) } });
    }
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, device.createBindGroup({ layout, entries }));
    pass.dispatchWorkgroups(...step.grid);
  }
  pass.end();
  const results = inputs.buffers.get("results") ?? missing();
  if (problem.keep) {
    const kept = plan.results.map(({ at, elements }) => {
      const buffer = held.take("storage", elements * 4);
      encoder.copyBufferToBuffer(results, at * 4, buffer, 0, elements * 4);
      return { buffer, elements };
    });
    device.queue.submit([encoder.finish()]);
    return async () =>
      kept.map(({ buffer, elements }) => {
        held.keep(buffer);
        return { kind: "resident", resident: new GpuResident(open, buffer, elements, "f32", false) };
      });
  }
  const bytes = plan.bytes.get("results") ?? 0;
  const staging = held.take("readback", bytes);
  encoder.copyBufferToBuffer(results, 0, staging, 0, bytes);
  device.queue.submit([encoder.finish()]);
  const mapped = unlessLost(open, where, staging.mapAsync(MAP_READ));
  // The call may fail before it waits for the mapping.
  mapped.catch(() => {});
  return async () => {
    await mapped;
    try {
      return readResults(call, new Float32Array(staging.getMappedRange()));
    } finally {
      staging.unmap();
    }
  };
}

function readResults({ where, plan, problem }: Call, data: Float32Array<ArrayBuffer>): readonly Computed[] {
  return plan.results.map(({ at, elements }, index) => {
    const array = data.slice(at, at + elements);
    const isGiven = index === 0 && problem.into !== null;
    return { kind: "array", array: isGiven ? fill(where, problem.into, array) : array };
  });
}

/** Milliseconds in which the loss of a device is expected after a failure, which it may have caused. */
const LATE = 50;

/** Resolves as the promise does, or rejects when the device is lost. */
export async function unlessLost<T>({ loss }: OpenDevice, where: string, promise: Promise<T>): Promise<T> {
  try {
    return await loss.unless(promise);
  } catch (cause) {
    if (!(cause instanceof HeedError))
      await loss.unless(new Promise((resolve) => setTimeout(resolve, LATE))).catch(() => {});
    else if (cause !== loss.error) throw cause;
    if (loss.error !== null) throw endOf(where, loss.error);
    throw new HeedError("load", `${where}: the GPU failed: ${causeText(cause)}`, { cause });
  }
}

function bufferOf(resident: Resident): GpuBuffer {
  if (resident instanceof GpuResident) return resident.buffer;
  throw new TypeError("a resident of another backend reached the GPU");
}

function missing(): never {
  throw new TypeError("a plan names what it does not have");
}
