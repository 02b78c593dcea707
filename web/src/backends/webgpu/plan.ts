// A plan: kernels, their parameters, buffers and grids for one call, and what a plan has to know of a device. Pure.

import type { Operand } from "../backend.js";
import type { GpuLimits } from "./gpu.js";
import type { Kernel } from "./kernel.js";
import type { Tuning } from "./tuning.js";

/** The buffers of a call are named by what they hold. */
export type Role =
  | "query"
  | "key"
  | "value"
  | "mask"
  | "bias"
  | "tables"
  | "results"
  | "stats"
  | "partials"
  | "queryWeights"
  | "keyWeights"
  | "queryRows"
  | "keyRows"
  | "input"
  | "cosines"
  | "sines"
  | "positions";

export interface Step {
  readonly kernel: Kernel;
  /** The storage bindings, in their order. */
  readonly buffers: readonly Role[];
  readonly uniform: Uint32Array<ArrayBuffer>;
  readonly grid: readonly [number, number];
}

/** Where one result lies in the buffer of results, in elements. */
export interface ResultRange {
  readonly at: number;
  readonly elements: number;
}

export type Uploads = ReadonlyMap<Role, Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer>>;

export interface Plan {
  readonly steps: readonly Step[];
  /** In the operation's order. */
  readonly results: readonly ResultRange[];
  /** Bytes of each buffer that a step names. */
  readonly bytes: ReadonlyMap<Role, number>;
  /** What the call uploads beside its operands. */
  readonly uploads: Uploads;
  /** How threads share the work, in words for `explain`. */
  readonly summary: string;
  /** Why it cannot run under these limits; null: it can. */
  readonly tooLarge: string | null;
}

/** What a plan has to know of a device. */
export interface Machine {
  readonly limits: GpuLimits;
  /** The CPU runs the shaders, and its compiler takes seconds for barriers. */
  readonly isSoftware: boolean;
  /** Shaders may use the type f16. */
  readonly f16: boolean;
  readonly subgroups: boolean;
  /** What autotuning measured on this adapter. */
  readonly tunings?: ReadonlyMap<string, Tuning>;
}

/** Spreads workgroups over a grid whose sides are within the limit. */
export function gridOf(
  groups: number,
  { maxComputeWorkgroupsPerDimension: limit }: GpuLimits,
): readonly [number, number] {
  const y = Math.ceil(groups / limit);
  return [Math.ceil(groups / y), y];
}

const ELEMENT_BYTES: Readonly<Record<Operand["dtype"], number>> = { f32: 4, f16: 2, i8: 1, bool: 1 };

export function operandBytes(operand: Operand | null): number {
  return operand === null ? 0 : operand.elements * ELEMENT_BYTES[operand.dtype];
}

/** The largest buffer that a shader can read. */
export function mostBytes({ maxStorageBufferBindingSize, maxBufferSize }: GpuLimits): number {
  return Math.min(maxStorageBufferBindingSize, maxBufferSize);
}

export function tooLarge(bytes: ReadonlyMap<Role, number>, steps: readonly Step[], limits: GpuLimits): string | null {
  const most = mostBytes(limits);
  for (const [role, size] of bytes) {
    if (size > most) return `${role} takes ${size} bytes, of which the adapter binds ${most}`;
  }
  for (const { kernel, buffers, grid } of steps) {
    if (buffers.length > limits.maxStorageBuffersPerShaderStage) {
      return `its ${kernel.kind} kernel needs ${buffers.length} buffers, of which the adapter binds ${limits.maxStorageBuffersPerShaderStage}`;
    }
    if (grid[1] > limits.maxComputeWorkgroupsPerDimension) return `it needs ${grid[0] * grid[1]} workgroups`;
  }
  return null;
}
