// One tensor or cache page in the memory of the front instance, or in that of a worker.

import type { DType, Resident } from "../backend.js";
import type { WorkerLink } from "./worker-link.js";

export function byteSize(elements: number, dtype: DType): number {
  return elements * (dtype === "f16" ? Uint16Array : Float32Array).BYTES_PER_ELEMENT;
}

export class WasmResident implements Resident {
  readonly elements: number;
  readonly dtype: DType;
  /** In the front instance's heap; changes when the engine falls back to another memory. 0 while it is away. */
  address: number;
  /** The worker whose own memory alone has it. */
  away: WorkerLink | null = null;
  /** Calls that are using it. */
  users = 0;
  live = true;

  constructor(address: number, elements: number, dtype: DType) {
    this.address = address;
    this.elements = elements;
    this.dtype = dtype;
  }

  get bytes(): number {
    return byteSize(this.elements, this.dtype);
  }
}
