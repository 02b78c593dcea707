// All tensors and pages in the engine's memories, with a count of the calls that use each.

import type { DType } from "../backend.js";
import type { Kernels } from "./kernels.js";
import { WasmResident } from "./resident.js";

/** All residents of one backend. `release` is called for a freed resident once no call uses it. */
export class Residents {
  readonly all = new Set<WasmResident>();
  readonly #release: (resident: WasmResident) => void;

  constructor(release: (resident: WasmResident) => void) {
    this.#release = release;
  }

  add(address: number, elements: number, dtype: DType): WasmResident {
    const resident = new WasmResident(address, elements, dtype);
    this.all.add(resident);
    return resident;
  }

  free(resident: WasmResident): void {
    if (!resident.live) return;
    resident.live = false;
    this.#dropUnused(resident);
  }

  /** Keeps residents in memory for a call, even when they are freed meanwhile, until `release`. */
  hold(residents: readonly WasmResident[]): void {
    for (const resident of residents) resident.users += 1;
  }

  release(residents: readonly WasmResident[]): void {
    for (const resident of residents) {
      resident.users -= 1;
      if (!resident.live) this.#dropUnused(resident);
    }
  }

  get count(): number {
    return this.all.size;
  }

  /** Includes residents that are freed and still in use. */
  get bytes(): number {
    let total = 0;
    for (const resident of this.all) total += resident.bytes;
    return total;
  }

  /** Copies all residents to another memory. Throws HeedError `memory`, and changes nothing, when they do not all fit. */
  move(from: Kernels, to: Kernels): void {
    const copies = new Map<WasmResident, number>();
    try {
      for (const resident of this.all) {
        const { address, bytes, away } = resident;
        if (away !== null) continue;
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

  /** Called when their memory is gone. */
  forgetAll(): void {
    for (const resident of this.all) resident.live = false;
    this.all.clear();
  }

  #dropUnused(resident: WasmResident): void {
    if (resident.users === 0 && this.all.delete(resident)) this.#release(resident);
  }
}
