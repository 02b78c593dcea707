// Tensors that live in a GPU buffer. Uses are counted, so a freed tensor keeps its buffer until the calls that use it are submitted.

import type { HeedError } from "../../base/errors.js";
import type { DType, Resident } from "../backend.js";
import type { OpenDevice } from "./device.js";
import type { GpuBuffer } from "./gpu.js";

export const bytesOf = (dtype: DType): number => (dtype === "f16" ? 2 : 4);

export class GpuResident implements Resident {
  readonly elements: number;
  readonly dtype: DType;
  readonly buffer: GpuBuffer;
  readonly owner: OpenDevice;
  /** The buffer is the caller's, and never destroyed here. */
  readonly isForeign: boolean;
  /** The copy for calls that run on wasm. */
  mirror: Resident | null = null;
  /** Why the upload failed; devices report that some time later. */
  failure: HeedError | null = null;
  users = 0;
  #isFreed = false;

  constructor(owner: OpenDevice, buffer: GpuBuffer, elements: number, dtype: DType, isForeign: boolean) {
    this.owner = owner;
    this.buffer = buffer;
    this.elements = elements;
    this.dtype = dtype;
    this.isForeign = isForeign;
  }

  get live(): boolean {
    return !this.#isFreed && this.owner.loss.error === null;
  }

  get bytes(): number {
    return this.elements * bytesOf(this.dtype);
  }

  free(): void {
    this.#isFreed = true;
  }
}

/** All residents of one backend. */
export class GpuResidents {
  readonly #all = new Set<GpuResident>();
  readonly #forget: (resident: GpuResident) => void;

  /** `forget` gets each resident that is freed and no longer used. */
  constructor(forget: (resident: GpuResident) => void) {
    this.#forget = forget;
  }

  add(resident: GpuResident): GpuResident {
    this.#all.add(resident);
    return resident;
  }

  retain(residents: readonly GpuResident[]): void {
    for (const resident of residents) resident.users += 1;
  }

  release(residents: readonly GpuResident[]): void {
    for (const resident of residents) {
      resident.users -= 1;
      this.#dropUnused(resident);
    }
  }

  free(resident: GpuResident): void {
    resident.free();
    this.#dropUnused(resident);
  }

  freeAll(): void {
    for (const resident of this.#all) this.free(resident);
  }

  get count(): number {
    return this.#all.size;
  }

  get bytes(): number {
    let total = 0;
    for (const resident of this.#all) total += resident.bytes;
    return total;
  }

  #dropUnused(resident: GpuResident): void {
    if (resident.live || resident.users > 0 || !this.#all.delete(resident)) return;
    if (!resident.isForeign) resident.owner.pool.drop(resident.buffer);
    this.#forget(resident);
  }
}
