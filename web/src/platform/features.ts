// Probes what this runtime supports. Probes try features; none asks for a version or a browser's name.

import { currentHost, type Host, nodeCores, nodeWorker } from "./host.js";

export interface Features {
  readonly simd: boolean;
  readonly relaxedSimd: boolean;
  readonly sharedMemory: boolean;
  readonly isolated: boolean;
  /** "web": the global Worker. "node": worker_threads. null: neither. */
  readonly worker: "web" | "node" | null;
  readonly cores: number;
}

/** (func (result v128) i32.const 0 i8x16.splat i8x16.popcnt), an instruction of the final SIMD proposal. */
const SIMD = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
];

/** The same with i8x16.relaxed_swizzle of two splats, an instruction of the final relaxed SIMD proposal. */
const RELAXED_SIMD = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15, 65, 2, 253, 15,
  253, 128, 2, 11,
];

/** A module with shared memory and i32.atomic.load, of the threads proposal. */
const ATOMICS = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 5, 4, 1, 3, 1, 1, 10, 11, 1, 9, 0, 65, 0, 254, 16, 2, 0,
  26, 11,
];

let probed: Promise<Features> | undefined;

/** The features of this realm, probed once. */
export function features(): Promise<Features> {
  probed ??= Promise.resolve(probe(currentHost()));
  return probed;
}

/** Probes a host, which tests make up. */
export function probe(host: Host): Features {
  return {
    simd: validates(host, SIMD),
    relaxedSimd: validates(host, RELAXED_SIMD),
    sharedMemory: validates(host, ATOMICS) && makesSharedMemory(host),
    isolated: host.crossOriginIsolated ?? typeof host.SharedArrayBuffer === "function",
    worker: workerKind(host),
    cores: Math.max(1, host.navigator?.hardwareConcurrency ?? nodeCores(host) ?? 1),
  };
}

function validates(host: Host, bytes: readonly number[]): boolean {
  return host.WebAssembly?.validate(new Uint8Array(bytes)) ?? false;
}

/** Some runtimes validate a module with shared memory and then refuse to make one. */
function makesSharedMemory(host: Host): boolean {
  try {
    const memory = host.WebAssembly && new host.WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    return Object.prototype.toString.call(memory?.buffer) === "[object SharedArrayBuffer]";
  } catch {
    return false;
  }
}

/** Outside of pages Node's worker is preferred: Deno and Bun have both kinds, and only Node's lets the process end while it idles. */
export function workerKind(host: Host): Features["worker"] {
  if (nodeWorker(host) !== null && host.document === undefined) return "node";
  return typeof host.Worker === "function" ? "web" : null;
}
