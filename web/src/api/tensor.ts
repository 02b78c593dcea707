// Tensors that live in an engine, so that repeated calls copy nothing; and the plain arrays that calls return.

import type { Backend, DType, Resident } from "../backends/backend.js";
import { DISPOSE, finalise, unfinalise } from "../memory/disposable.js";
import type { AnyGpuBuffer } from "./browser-globals.js";
import { HeedError } from "./errors.js";
import { fromF16 } from "./f16.js";

/** A result: an array of the caller's own. */
export interface ArrayTensor {
  readonly data: Float32Array;
  readonly shape: readonly number[];
  readonly dtype: "f32";
}

/** Values in an engine's memory. Immutable; made by `heed.tensor`, `heed.zeros`, or a call with `keep: true`. */
export class Tensor {
  /** @internal Its name in messages, whatever a minifier calls the class. */
  static readonly name: string = "Tensor";
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly location: "wasm" | "webgpu";
  /** Where `location` is "webgpu": its GPUBuffer, with the numbers from its start. */
  readonly buffer: AnyGpuBuffer | undefined;
  readonly #backend: Backend;
  readonly #resident: Resident;

  /** @internal Users call `heed.tensor`. */
  constructor(backend: Backend, resident: Resident, shape: readonly number[]) {
    this.shape = Object.freeze([...shape]);
    this.dtype = resident.dtype;
    this.buffer = resident.buffer;
    this.location = resident.buffer === undefined ? "wasm" : "webgpu";
    this.#backend = backend;
    this.#resident = resident;
    finalise(this, () => backend.free(resident));
    // Kernels walk by this shape: writing another one to it would lead them out of the resident.
    Object.freeze(this);
  }

  /** @internal What the backend knows it by. Throws HeedError `disposed` when it is gone or another engine's. */
  static residentOf(tensor: Tensor, backend: Backend | null, where: string): Resident {
    if (tensor.#backend !== backend) throw new HeedError("disposed", `${where} is a tensor of another engine`);
    if (!tensor.#resident.live) throw new HeedError("disposed", `${where} is a tensor that was disposed`);
    return tensor.#resident;
  }

  /** @internal */
  static isOf(tensor: Tensor, backend: Backend): boolean {
    return tensor.#backend === backend;
  }

  /** Its values, copied, in single precision. Rejects with HeedError `disposed` when it is gone. */
  async read(): Promise<Float32Array> {
    const data = await this.#backend.download(Tensor.residentOf(this, this.#backend, "Tensor.read: this"));
    return data instanceof Uint16Array ? fromF16(data) : data;
  }

  /** Frees its memory, once calls that already use it are done. Can be repeated. */
  dispose(): void {
    unfinalise(this);
    this.#backend.free(this.#resident);
  }

  [DISPOSE](): void {
    this.dispose();
  }
}
