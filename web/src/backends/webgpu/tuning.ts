// What a plan leaves to measurement, and what was measured, by adapter and by kernel: for every engine of the page.

import type { GpuAdapterInfo } from "./gpu.js";

export interface Tuning {
  /** Keys of a tile at most; 0: keys and values are read where they lie. */
  readonly tile: number;
  /** Keys between two looks at the running maximum. */
  readonly step: number;
  /** Workgroups below which keys are split. */
  readonly groups: number;
}

/** By what tells kernels apart in speed: see kernelClass. */
export type Tunings = Map<string, Tuning>;

/**
 * What was never measured. Workgroup memory is but a copy to a processor, and barriers take it seconds to compile; it has few cores, and
 * merging parts of the keys is work.
 */
export function untuned(isSoftware: boolean): Tuning {
  return isSoftware ? { tile: 0, step: 8, groups: 8 } : { tile: 32, step: 4, groups: 256 };
}

/** Vectors of a key and of a value, and rows of a workgroup. */
export function kernelClass(vectors: number, valueVectors: number, rows: number): string {
  return `${vectors} ${valueVectors} ${rows}`;
}

export function adapterName(info: Partial<GpuAdapterInfo> | undefined): string {
  return [info?.vendor, info?.architecture, info?.description].join(" ").trim();
}

/** Known by its symbol alone: entries that are bundled apart have it in common. */
const REGISTRY = Symbol.for("heed.tunings");

export function tuningsOf(adapter: string): Tunings {
  const all: Map<string, Tunings> = Reflect.get(globalThis, REGISTRY) ?? new Map();
  Reflect.set(globalThis, REGISTRY, all);
  const tunings = all.get(adapter) ?? new Map<string, Tuning>();
  all.set(adapter, tunings);
  return tunings;
}
