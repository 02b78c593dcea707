// The tunings of plans, by adapter and by class of kernels, shared by every engine of the page.

import { HeedError } from "../../base/errors.js";
import type { GpuAdapterInfo } from "./gpu.js";

/** How kernels are cut for a GPU. */
export interface Tuning {
  /** Threads share what they read, through workgroup memory; if not, each reads keys and values for itself. */
  readonly shared: boolean;
  /** Threads share by subgroup operations as well, where the adapter has them. */
  readonly subgroups: boolean;
  /** The most bytes of workgroup memory for a workgroup. With more of it more rows stay there, and fewer workgroups run side by side. */
  readonly memory: number;
  /** The most rows of a workgroup with tiles. */
  readonly rows: number;
  /** Keys between two updates of the row max, in kernels whose threads read for themselves. */
  readonly step: number;
  /** A call of fewer workgroups than these splits its keys. */
  readonly groups: number;
}

/** Plain data, which an application can store for later visits. */
export interface Tuned {
  readonly adapter: string;
  /** The class of kernels that the tuning is for. */
  readonly kernel: string;
  readonly tuning: Tuning;
  /** Milliseconds of a call with the tuning, and with the defaults. */
  readonly ms: number;
  readonly untunedMs: number;
}

/** Keyed by kernelClass. */
export type Tunings = Map<string, Tuning>;

/**
 * The default tuning. On a software adapter workgroup memory is only a copy and barriers take seconds to compile. It has few cores, so
 * that KV splits cost more than they gain.
 */
export function untuned(isSoftware: boolean): Tuning {
  const [step, groups] = isSoftware ? [8, 8] : [4, 256];
  return { shared: !isSoftware, subgroups: true, memory: 16_384, rows: 64, step, groups };
}

/** The class of a kernel: vectors of a key and of a value, and rows of a workgroup. */
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

export function rememberTuned({ adapter, kernel, tuning }: Tuned): void {
  const { shared, subgroups, memory, rows, step, groups } = tuning;
  const isPower = (value: number): boolean => Number.isInteger(Math.log2(value));
  const areFlags = [shared, subgroups].every((flag) => typeof flag === "boolean");
  const areNumbers = [memory, rows, step, groups].every((number) => typeof number === "number" && number > 0);
  if (!areFlags || !areNumbers || !isPower(rows) || rows > 128 || !isPower(step) || step > 32) {
    const got = Object.entries({ shared, subgroups, memory, rows, step, groups }).map(([name, value]) => {
      return `${name}: ${shown(value)}`;
    });
    throw new HeedError("option", `remember: this is no tuning: { ${got.join(", ")} }`);
  }
  tuningsOf(adapter).set(kernel, { shared, subgroups, memory, rows, step, groups });
}

/** Text of a value that may not be what its type says. */
export function shown(value: unknown): string {
  return typeof value === "object" ? "an object" : String(value);
}
