// Values that live in the front instance's memory, and the counting that keeps them there while a call uses them.

import type { DType, Resident } from "../backend.js";
import type { Kernels } from "./kernels.js";

let lastId = 0;

export function byteSize(elements: number, dtype: DType): number {
  return elements * (dtype === "f16" ? Uint16Array : Float32Array).BYTES_PER_ELEMENT;
}

export class WasmResident implements Resident {
  /** Names it in the worker's messages; never reused. */
  readonly id: number;
  readonly elements: number;
  readonly dtype: DType;
  /** In the front instance's heap; changes when the engine falls back to another memory. */
  address: number;
  /** Calls that are using it. */
  users = 0;
  live = true;

  constructor(address: number, elements: number, dtype: DType) {
    lastId += 1;
    this.id = lastId;
    this.address = address;
    this.elements = elements;
    this.dtype = dtype;
  }

  get bytes(): number {
    return byteSize(this.elements, this.dtype);
  }
}

/** All residents of one backend. Memory is given back by `release`, once nobody uses it any more. */
export class Residents {
  readonly #all = new Set<WasmResident>();
  readonly #release: (resident: WasmResident) => void;

  constructor(release: (resident: WasmResident) => void) {
    this.#release = release;
  }

  add(address: number, elements: number, dtype: DType): WasmResident {
    const resident = new WasmResident(address, elements, dtype);
    this.#all.add(resident);
    return resident;
  }

  free(resident: WasmResident): void {
    if (!resident.live) return;
    resident.live = false;
    this.#dropUnused(resident);
  }

  /** Keeps residents alive for a call, freed meanwhile or not, until as many `letGo`. */
  hold(residents: readonly WasmResident[]): void {
    for (const resident of residents) resident.users += 1;
  }

  letGo(residents: readonly WasmResident[]): void {
    for (const resident of residents) {
      resident.users -= 1;
      if (!resident.live) this.#dropUnused(resident);
    }
  }

  get count(): number {
    return this.#all.size;
  }

  /** Those that were freed and are still in use among them. */
  get bytes(): number {
    let total = 0;
    for (const resident of this.#all) total += resident.bytes;
    return total;
  }

  /** Copies everything from one memory to another, or, when there is no room for all, nothing. Throws HeedError `memory`. */
  move(from: Kernels, to: Kernels): void {
    const copies = new Map<WasmResident, number>();
    try {
      for (const resident of this.#all) {
        const { address, bytes } = resident;
        copies.set(
          resident,
          to.upload(bytes, () => from.heap.bytes(address, bytes)),
        );
      }
    } catch (error) {
      for (const address of copies.values()) to.release(address);
      throw error;
    }
    for (const [resident, address] of copies) resident.address = address;
  }

  /** Their memory is gone. */
  forgetAll(): void {
    for (const resident of this.#all) resident.live = false;
    this.#all.clear();
  }

  #dropUnused(resident: WasmResident): void {
    if (resident.users === 0 && this.#all.delete(resident)) this.#release(resident);
  }
}
