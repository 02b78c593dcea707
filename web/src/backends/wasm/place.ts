// Where the residents of a program are while it is under way.

import type { Span } from "../backend.js";
import type { Kernels } from "./kernels.js";
import { byteSize, type WasmResident } from "./resident.js";

export interface Place {
  /** Gives a resident, which has none, memory. */
  make(resident: WasmResident): void;
  upload(resident: WasmResident, data: Float32Array): void;
  /** Calls that are recorded later may use the memory again. */
  free(resident: WasmResident): void;
  /** A resident has become another one. */
  move(from: WasmResident, to: WasmResident): void;
  /** A call that is recorded next changes bytes of a resident of the engine. */
  changed(resident: WasmResident, spans: readonly Span[]): void;
  /** Brings what calls changed of the engine's residents, when they are done. */
  bringBack(): Promise<void>;
  /** Frees what it holds. */
  release(): void;
}

/** The memory of the front instance. */
export class FrontPlace implements Place {
  readonly #kernels: Kernels;
  /** Memory of freed residents, by size. Calls run in order, so a call may overwrite what only earlier ones read. */
  readonly #blocks = new Map<number, number[]>();

  constructor(kernels: Kernels) {
    this.#kernels = kernels;
  }

  make(resident: WasmResident): void {
    const bytes = roomOf(resident);
    resident.address = this.#blocks.get(bytes)?.pop() ?? this.#kernels.allocate(bytes);
  }

  upload(resident: WasmResident, data: Float32Array): void {
    resident.address = this.#kernels.upload(data.byteLength, () => data);
  }

  free(resident: WasmResident): void {
    const bytes = roomOf(resident);
    const blocks = this.#blocks.get(bytes);
    if (blocks === undefined) this.#blocks.set(bytes, [resident.address]);
    else blocks.push(resident.address);
  }

  move(): void {}
  changed(): void {}
  async bringBack(): Promise<void> {}

  release(): void {
    for (const address of [...this.#blocks.values()].flat()) this.#kernels.release(address);
  }
}

/** The size of a resident's block, in bytes: sizes that are nearly the same share blocks. */
function roomOf({ elements, dtype }: WasmResident): number {
  return Math.max(1, Math.ceil(byteSize(elements, dtype) / 64)) * 64;
}
