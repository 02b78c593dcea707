// Where tensors live, on the GPU or in wasm. A call that needs a tensor on the other side gets a copy, which later calls share.

import { HeedError } from "../../base/errors.js";
import type { Backend, Computed, DType, Resident } from "../backend.js";
import type { OpenDevice } from "./device.js";
import { scoped } from "./error-scopes.js";
import type { GpuBuffer } from "./gpu.js";
import { writeBytes } from "./gpu-call.js";
import { operandsOf, residentsOf, snapshot, withResidents } from "./operands.js";
import { readBuffer } from "./read-buffer.js";
import { bytesOf, GpuResident, GpuResidents } from "./residents.js";

type Run<P, C> = (problem: P) => Promise<C>;

export class Residency {
  readonly #wasm: Backend;
  readonly #residents = new GpuResidents(({ mirror }) => {
    if (mirror !== null) this.#wasm.free(mirror);
  });
  /** Copies on the GPU of tensors that live in wasm, where they may be freed without a word to this class. */
  readonly #copies = new Map<Resident, GpuResident>();

  constructor(wasm: Backend) {
    this.#wasm = wasm;
  }

  get count(): number {
    this.#dropCopies();
    return this.#residents.count;
  }

  get bytes(): number {
    this.#dropCopies();
    return this.#residents.bytes;
  }

  upload(open: OpenDevice, data: Float32Array | Uint16Array): GpuResident {
    const { made: buffer, refused } = scoped(open.device, "tensor", () => {
      const taken = open.pool.take("storage", Math.max(16, data.byteLength));
      writeBytes(open.device, "tensor", taken, data, data.byteLength);
      return taken;
    });
    const dtype = data instanceof Uint16Array ? "f16" : "f32";
    const resident = this.#residents.add(new GpuResident(open, buffer, data.length, dtype, false));
    void refused.then((error) => {
      resident.failure = error;
    });
    return resident;
  }

  /** Makes a resident of a buffer that the caller keeps and destroys. */
  adopt(open: OpenDevice, buffer: object, elements: number, dtype: DType): Resident {
    const given = asBuffer(buffer, elements * bytesOf(dtype));
    return this.#residents.add(new GpuResident(open, given, elements, dtype, true));
  }

  async download(resident: Resident): Promise<Float32Array | Uint16Array> {
    if (!(resident instanceof GpuResident)) return this.#wasm.download(resident);
    if (!resident.live) throw new HeedError("disposed", "Tensor.read: the engine was disposed");
    this.#residents.retain([resident]);
    try {
      const bytes = await readBuffer(resident.owner, "Tensor.read", resident.buffer, resident.bytes);
      return resident.dtype === "f16" ? new Uint16Array(bytes) : new Float32Array(bytes);
    } catch (error) {
      throw resident.failure ?? error;
    } finally {
      this.#residents.release([resident]);
    }
  }

  free(resident: Resident): void {
    if (resident instanceof GpuResident) {
      this.#residents.free(resident);
      return;
    }
    this.#wasm.free(resident);
    this.#dropCopies();
  }

  /** Frees the copies of tensors that are no more. */
  #dropCopies(): void {
    for (const [resident, copy] of this.#copies) {
      if (resident.live) continue;
      this.#residents.free(copy);
      this.#copies.delete(resident);
    }
  }

  freeResults(computed: readonly Computed[]): void {
    for (const part of computed) if (part.kind === "resident") this.free(part.resident);
  }

  freeAll(): void {
    this.#residents.freeAll();
  }

  /** Runs a call on the device, after copying there the tensors that live elsewhere. Arrays are read before this returns. */
  onGpu<P extends object>(
    open: OpenDevice,
    where: string,
    problem: P,
    run: Run<P, readonly Computed[]>,
  ): Promise<readonly Computed[]> {
    const isElsewhere = residentsOf(problem).some((resident) => !isOn(open, resident));
    if (!isElsewhere) return this.#retaining(problem, run);
    return this.#exchanged(
      where,
      problem,
      (resident) => this.#copyOf(open, resident),
      (own) => this.#retaining(own, run),
    );
  }

  /** Runs a call on wasm, after copying there the tensors that live on the GPU. */
  onWasm<P extends object, C>(where: string, problem: P, run: Run<P, C>): Promise<C> {
    if (!residentsOf(problem).some(isGpuResident)) return run(problem);
    return this.#exchanged(where, problem, (resident) => this.#mirrorOf(resident), run);
  }

  /** A problem for a synchronous call, which can only use copies in wasm that exist already. `operation` computes it otherwise. */
  mirrored<P extends object>(operation: string, problem: P): P {
    const mirrors = new Map<Resident, Resident>();
    for (const [name, { source }] of operandsOf(problem)) {
      if (source.kind !== "resident" || !(source.resident instanceof GpuResident)) continue;
      const { mirror } = source.resident;
      if (mirror === null) {
        throw new HeedError(
          "unsupported",
          `${operation}Sync: ${name} lives on the GPU, which cannot be waited for: use ${operation}`,
        );
      }
      mirrors.set(source.resident, mirror);
    }
    return withResidents(problem, mirrors);
  }

  async #retaining<P extends object>(problem: P, run: Run<P, readonly Computed[]>): Promise<readonly Computed[]> {
    const used = residentsOf(problem).filter(isGpuResident);
    this.#residents.retain(used);
    try {
      const computed = await run(problem);
      for (const part of computed) {
        if (part.kind === "resident" && isGpuResident(part.resident)) this.#residents.add(part.resident);
      }
      return computed;
    } catch (error) {
      throw used.find(({ failure }) => failure !== null)?.failure ?? error;
    } finally {
      this.#residents.release(used);
    }
  }

  /** Runs a call with copies in place of its tensors, which later calls use as well. Its arrays are copied first, since the call has to wait. */
  async #exchanged<P extends object, C>(
    where: string,
    problem: P,
    exchange: (resident: Resident) => Promise<Resident>,
    run: Run<P, C>,
  ): Promise<C> {
    const own = snapshot(where, problem);
    const residents = residentsOf(own);
    const onGpu = residents.filter(isGpuResident);
    this.#residents.retain(onGpu);
    try {
      const pairs = residents.map(async (resident) => [resident, await exchange(resident)] as const);
      return await run(withResidents(own, new Map(await Promise.all(pairs))));
    } finally {
      this.#residents.release(onGpu);
    }
  }

  /** The copy in wasm of a tensor on the GPU. */
  async #mirrorOf(resident: Resident): Promise<Resident> {
    if (!(resident instanceof GpuResident)) return resident;
    resident.mirror ??= this.#wasm.upload(await this.download(resident));
    return resident.mirror;
  }

  /** The copy on the GPU of a tensor in wasm. */
  async #copyOf(open: OpenDevice, resident: Resident): Promise<Resident> {
    if (isOn(open, resident)) return resident;
    this.#dropCopies();
    const known = this.#copies.get(resident);
    if (known?.live === true) return known;
    const data = await this.#wasm.download(resident);
    const copy = this.upload(open, data);
    this.#copies.set(resident, copy);
    // The tensor was freed meanwhile, so its copy goes with the call.
    if (!resident.live) this.#residents.free(copy);
    return copy;
  }
}

export function isGpuResident(resident: Resident): resident is GpuResident {
  return resident instanceof GpuResident;
}

function isOn(open: OpenDevice, resident: Resident): boolean {
  return resident instanceof GpuResident && resident.owner === open;
}

/** Kernels need STORAGE, and reading back needs COPY_SRC. */
const NEEDED_USAGE = 128 | 4;

function asBuffer(buffer: object, bytes: number): GpuBuffer {
  const given = buffer as GpuBuffer;
  if ((given.usage & NEEDED_USAGE) !== NEEDED_USAGE) {
    throw new HeedError("option", `tensor: a GPUBuffer must have the usages STORAGE and COPY_SRC, got ${given.usage}`);
  }
  if (given.size < Math.ceil(bytes / 4) * 4) {
    throw new HeedError("shape", `tensor: its shape takes ${bytes} bytes, the GPUBuffer has ${given.size}`);
  }
  return given;
}
