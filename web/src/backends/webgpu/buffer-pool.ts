// GPU buffers that calls take and give back. The queue executes writes and kernels in order, so the next call can take a buffer as soon as this
// one is submitted.

import { type GpuBuffer, type GpuDevice, USAGE } from "./gpu.js";

export type BufferKind = "storage" | "uniform" | "readback";

const USAGES: Readonly<Record<BufferKind, number>> = {
  storage: USAGE.STORAGE | USAGE.COPY_SRC | USAGE.COPY_DST,
  uniform: USAGE.UNIFORM | USAGE.COPY_DST,
  readback: USAGE.MAP_READ | USAGE.COPY_DST,
};

/** Bytes of idle buffers beyond which they are destroyed rather than kept. */
const MOST_IDLE = 256 * 2 ** 20;

const LEAST_BYTES = 256;

/** Sizes in steps of an eighth of a power of two, so that calls of like sizes share buffers and little is wasted. */
export function sizeClass(bytes: number): number {
  if (bytes <= LEAST_BYTES) return LEAST_BYTES;
  const step = 2 ** Math.max(8, Math.floor(Math.log2(bytes)) - 3);
  return Math.ceil(bytes / step) * step;
}

export interface PoolReport {
  /** Buffers that exist, in use or idle, and their bytes. */
  readonly buffers: number;
  readonly bytes: number;
  readonly idleBytes: number;
}

export class BufferPool {
  readonly #device: GpuDevice;
  readonly #idle = new Map<string, GpuBuffer[]>();
  #disposed = false;
  #buffers = 0;
  #bytes = 0;
  #idleBytes = 0;

  constructor(device: GpuDevice) {
    this.#device = device;
  }

  /** The buffer still holds what an earlier call wrote. */
  take(kind: BufferKind, bytes: number): GpuBuffer {
    const size = Math.min(sizeClass(bytes), Math.max(bytes, this.#device.limits.maxBufferSize));
    const idle = this.#idle.get(`${kind} ${size}`)?.pop();
    if (idle !== undefined) {
      this.#idleBytes -= size;
      return idle;
    }
    this.#buffers += 1;
    this.#bytes += size;
    return this.#device.createBuffer({ size, usage: USAGES[kind] });
  }

  give(kind: BufferKind, buffer: GpuBuffer): void {
    if (this.#disposed || this.#idleBytes + buffer.size > MOST_IDLE) {
      this.drop(buffer);
      return;
    }
    const key = `${kind} ${buffer.size}`;
    const idle = this.#idle.get(key) ?? [];
    idle.push(buffer);
    this.#idle.set(key, idle);
    this.#idleBytes += buffer.size;
  }

  /** Destroys a buffer whose creation or use failed: its state is unknown. */
  drop(buffer: GpuBuffer): void {
    this.#buffers -= 1;
    this.#bytes -= buffer.size;
    buffer.destroy();
  }

  report(): PoolReport {
    return { buffers: this.#buffers, bytes: this.#bytes, idleBytes: this.#idleBytes };
  }

  /** Buffers in use are destroyed when they are given back. */
  dispose(): void {
    this.#disposed = true;
    for (const buffers of this.#idle.values()) for (const buffer of buffers) this.drop(buffer);
    this.#idle.clear();
    this.#idleBytes = 0;
  }
}
