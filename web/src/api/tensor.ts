// Tensors in an engine's memory, which repeated calls do not copy, and the plain arrays that calls return.

import type { Backend, Computer, DType, Resident } from "../backends/backend.js";
import type { AnyGpuBuffer } from "../base/browser-globals.js";
import { HeedError } from "../base/errors.js";
import { asF32 } from "../base/f16.js";
import { DISPOSE, finalise, unfinalise } from "../memory/disposable.js";

/** A result as an array, which belongs to the caller. */
export interface ArrayTensor {
  readonly data: Float32Array;
  readonly shape: readonly number[];
  readonly dtype: "f32";
}

/** Values in an engine's memory. Immutable; made by `heed.tensor`, `heed.zeros`, or a call with `keep: true`. */
export class Tensor {
  /** @internal The class's name in messages, which a minifier would shorten. */
  static readonly name: string = "Tensor";
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly location: "wasm" | "webgpu";
  /** With `location` "webgpu", the GPUBuffer that starts with the values. */
  readonly buffer: AnyGpuBuffer | undefined;
  readonly #backend: Computer;
  /** Undefined: it was disposed of. */
  #resident: Resident | undefined;
  /** Tensors of these values that were not disposed of. */
  readonly #owners: { count: number };
  readonly #free: () => void;

  /** @internal Users call `heed.tensor`. */
  constructor(backend: Computer, resident: Resident, shape: readonly number[], owners = { count: 0 }) {
    this.shape = Object.freeze([...shape]);
    this.dtype = resident.dtype;
    this.buffer = resident.buffer;
    this.location = resident.buffer === undefined ? "wasm" : "webgpu";
    this.#backend = backend;
    this.#resident = resident;
    this.#owners = owners;
    owners.count += 1;
    this.#free = () => {
      owners.count -= 1;
      if (owners.count === 0) backend.free(resident);
    };
    finalise(this, this.#free);
    // Kernels trust this shape. With another one they would leave the resident.
    Object.freeze(this);
  }

  /** @internal Unlike `instanceof`, it runs no code of a proxy, which is none. */
  static is(value: unknown): value is Tensor {
    return typeof value === "object" && value !== null && #backend in value;
  }

  /** @internal The tensor's resident. Throws HeedError `disposed` when it was freed, or belongs to another engine. */
  static residentOf(tensor: Tensor, backend: Computer | null, where: string): Resident {
    if (tensor.#backend.root !== backend?.root)
      throw new HeedError("disposed", `${where} is a tensor of another engine`);
    const resident = tensor.#resident;
    if (!resident?.live) throw new HeedError("disposed", `${where} is a tensor that was disposed`);
    return resident;
  }

  /** @internal Another tensor of the same values, which stay until both are disposed of. One that was disposed of is returned as it is. */
  static share(tensor: Tensor): Tensor {
    const resident = tensor.#resident;
    return resident === undefined ? tensor : new Tensor(tensor.#backend, resident, tensor.shape, tensor.#owners);
  }

  /** @internal */
  static isOf(tensor: Tensor, backend: Backend): boolean {
    return tensor.#backend.root === backend.root;
  }

  /** Copies its values to an f32 array. Rejects with HeedError `disposed` when it was disposed of. */
  async read(): Promise<Float32Array> {
    return asF32(await this.#backend.download(Tensor.residentOf(this, this.#backend, "Tensor.read: this")));
  }

  /** Frees its memory as soon as the calls that use it are done. May be called twice. */
  dispose(): void {
    unfinalise(this);
    if (this.#resident !== undefined) this.#free();
    this.#resident = undefined;
  }

  [DISPOSE](): void {
    this.dispose();
  }
}
