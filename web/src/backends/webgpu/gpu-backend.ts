// The backend that has two: calls go to the GPU, or to wasm where that is faster or alone can, and tensors go along.

import { causeText, HeedError } from "../../api/errors.js";
import type {
  AttentionComputed,
  AttentionProblem,
  Backend,
  BackendReport,
  Computed,
  DType,
  Explanation,
  MemoryReport,
  Resident,
  Span,
} from "../backend.js";
import type { ExtraOnGpu, RopeProblem } from "../extra-backend.js";
import { type Choice, choose } from "./choose.js";
import { type Costs, isSoonerThanAnyOnGpu, measureCosts } from "./costs.js";
import type { OpenDevice } from "./device.js";
import { Ending } from "./ending.js";
import { scoped } from "./error-scopes.js";
import type { GpuBuffer } from "./gpu.js";
import { runOnGpu, writeBytes } from "./gpu-call.js";
import { mostBytes } from "./plan.js";
import { givenOf, planRope } from "./plan-rope.js";
import { readBuffer } from "./read-buffer.js";
import { GpuResident, GpuResidents } from "./residents.js";
import { operandsOf, residentsOf, snapshot, withResidents } from "./sources.js";
import { SUPPORT, unsupported } from "./support.js";
import { TurnMaker } from "./turns.js";

/** Times that a lost device is replaced by a new one. */
const MOST_REOPENINGS = 3;

/** Sentences about calls that ran on wasm which are kept for `capabilities`. */
const MOST_REASONS = 20;

export interface GpuBackendOptions {
  readonly wasm: Backend;
  readonly mode: "auto" | "webgpu";
  readonly open: OpenDevice;
  /** Makes a device in the place of one that is lost; null: the caller's is not replaced. */
  readonly reopen: (() => Promise<OpenDevice>) | null;
}

export class GpuBackend implements Backend, ExtraOnGpu {
  readonly #wasm: Backend;
  readonly #mode: "auto" | "webgpu";
  readonly #reopen: GpuBackendOptions["reopen"];
  readonly #residents = new GpuResidents((resident) => this.#forget(resident));
  /** Copies on the GPU of what lives in wasm. */
  readonly #copies = new WeakMap<Resident, GpuResident>();
  readonly #fallbacks = new Set<string>();
  readonly #losses: string[] = [];
  #open: OpenDevice | null = null;
  #costs: Costs | null = null;
  #reopenings = 0;
  #disposed = false;
  /** Settled when a device that was lost has been replaced, or will not be. */
  #replacing: Promise<void> = Promise.resolve();
  readonly #turns = new TurnMaker();
  readonly #end = new Ending();
  /** Settled when every call before is. */
  #last: Promise<unknown> = Promise.resolve();
  /** Calls that end in turn and have not. */
  #waiting = 0;

  /** In mode "auto" it measures both for some milliseconds first. */
  static async open(options: GpuBackendOptions): Promise<GpuBackend> {
    const backend = new GpuBackend(options);
    if (options.mode === "auto") backend.#costs = await measureCosts(options.open, options.wasm);
    return backend;
  }

  private constructor({ wasm, mode, open, reopen }: GpuBackendOptions) {
    this.#wasm = wasm;
    this.#mode = mode;
    this.#reopen = reopen;
    this.#stepOnto(open);
  }

  report(): BackendReport {
    const report = this.#wasm.report();
    const reasons = [...report.reasons, ...this.#losses, ...this.#fallbacks];
    const isGpu = this.#mode === "webgpu" && this.#open !== null;
    return { ...report, backend: isGpu ? "webgpu" : "wasm", webgpu: this.#open?.info ?? null, reasons };
  }

  explain(problem: AttentionProblem): Explanation {
    const { backend, reasons, plan } = this.#choose(problem);
    return { backend, reasons: plan === null ? reasons : [...reasons, plan.way] };
  }

  /** Buffers that its device has from this backend. For tests. */
  get pool(): OpenDevice["pool"] | null {
    return this.#open?.pool ?? null;
  }

  attention(problem: AttentionProblem, signal: AbortSignal | null): Promise<AttentionComputed> {
    this.#assertUsable("attention");
    if (this.#isForWasmAlone(problem)) {
      const computing = this.#wasm.attention(problem, signal);
      const before = this.#last.then(nothing, nothing);
      // One that is aborted ends before its turn.
      this.#last = computing.then(
        () => before,
        () => before,
      );
      return computing;
    }
    return this.#inTurn("attention", this.#compute(problem, signal), signal);
  }

  rope(problem: RopeProblem, signal: AbortSignal | null): Promise<Computed> | null {
    this.#assertUsable("rope");
    const open = this.#open;
    const isHere = residentsOf({ input: problem.input }).some((resident) => resident instanceof GpuResident);
    if (open === null || (this.#mode === "auto" && !isHere)) return null;
    const plan = planRope(problem, this.#turns.of(problem), open.machine);
    if (plan.tooLarge !== null || problem.input.elements === 0) {
      const why = plan.tooLarge === null ? SUPPORT.size.none : `too large for the GPU: ${plan.tooLarge}`;
      this.#noteFallback([`rope runs on wasm: ${why}`]);
      return null;
    }
    const computing = this.#onGpu(open, givenOf(problem), (own) => runOnGpu(open, own, plan));
    return this.#inTurn("rope", computing, signal).then(({ output }) => output, renamed);
  }

  leave(operation: string): void {
    const cell = Object.entries(SUPPORT.operation).find(([name]) => name === operation)?.[1];
    if (typeof cell === "string") this.#noteFallback([`${operation} runs on wasm: ${cell}`]);
  }

  attentionSync(problem: AttentionProblem): AttentionComputed {
    this.leave("attentionSync");
    const mirrors = new Map<Resident, Resident>();
    for (const [name, { source }] of operandsOf(problem)) {
      if (source.kind !== "resident" || !(source.resident instanceof GpuResident)) continue;
      const { mirror } = source.resident;
      if (mirror === null) {
        throw new HeedError(
          "unsupported",
          `attentionSync: ${name} lives on the GPU, which cannot be waited for: use attention`,
        );
      }
      mirrors.set(source.resident, mirror);
    }
    return this.#wasm.attentionSync(withResidents(problem, mirrors));
  }

  upload(data: Float32Array | Uint16Array): Resident {
    const open = this.#homeOf(data.byteLength);
    return open === null ? this.#wasm.upload(data) : this.#uploadTo(open, data);
  }

  adopt(buffer: object, elements: number, dtype: DType): Resident {
    this.#assertUsable("tensor");
    if (this.#open === null) throw new HeedError("device-lost", "tensor: the GPU device of the buffer is lost");
    const given = asBuffer(buffer, elements * bytesOf(dtype));
    return this.#residents.add(new GpuResident(this.#open, given, elements, dtype, true));
  }

  zeros(elements: number, dtype: DType): Resident {
    const open = this.#homeOf(elements * bytesOf(dtype));
    if (open === null) return this.#wasm.zeros(elements, dtype);
    return this.#uploadTo(open, dtype === "f16" ? new Uint16Array(elements) : new Float32Array(elements));
  }

  async download(resident: Resident): Promise<Float32Array | Uint16Array> {
    if (!(resident instanceof GpuResident)) return this.#wasm.download(resident);
    if (!resident.live) throw new HeedError("disposed", "Tensor.read: the engine was disposed");
    this.#residents.hold([resident]);
    try {
      const bytes = await readBuffer(resident.home, resident.buffer, resident.bytes);
      return resident.dtype === "f16" ? new Uint16Array(bytes) : new Float32Array(bytes);
    } catch (error) {
      throw resident.failure ?? error;
    } finally {
      this.#residents.letGo([resident]);
    }
  }

  free(resident: Resident): void {
    if (resident instanceof GpuResident) {
      this.#residents.free(resident);
      return;
    }
    const copy = this.#copies.get(resident);
    if (copy !== undefined) this.#residents.free(copy);
    this.#wasm.free(resident);
  }

  page(bytes: number): Resident {
    return this.#wasm.page(bytes);
  }

  bytesOf(where: string, resident: Resident): Uint8Array<ArrayBuffer> {
    if (!(resident instanceof GpuResident)) return this.#wasm.bytesOf(where, resident);
    throw new HeedError("unsupported", `${where}: keys and values of a cache cannot be tensors that live on the GPU`);
  }

  changed(resident: Resident, spans: readonly Span[]): void {
    this.#wasm.changed(resident, spans);
  }

  memory(): MemoryReport {
    const report = this.#wasm.memory();
    return {
      ...report,
      gpu: this.#open?.pool.report().bytes ?? 0,
      tensors: report.tensors + this.#residents.count,
      tensorBytes: report.tensorBytes + this.#residents.bytes,
    };
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#end.come(new HeedError("disposed", "attention: the engine was disposed"));
    this.#residents.freeAll();
    this.#open?.dispose();
    this.#open = null;
    this.#wasm.dispose();
  }

  #choose(problem: AttentionProblem): Choice {
    if (this.#open === null) {
      return {
        backend: "wasm",
        reasons: [this.#losses.at(-1) ?? "the GPU device is lost"],
        plan: null,
        isFallback: true,
      };
    }
    return choose(problem, this.#open.machine, this.#costs);
  }

  /** Small calls are sooner done on wasm than thought about: those behind no other, whose tensors wasm has. */
  #isForWasmAlone(problem: AttentionProblem): boolean {
    if (this.#costs === null || this.#open === null || this.#waiting > 0 || this.#residents.count > 0) return false;
    return isSoonerThanAnyOnGpu(this.#costs, problem) && unsupported(problem).length === 0;
  }

  /** Calls finish in the order in which they were made. */
  #inTurn(
    operation: string,
    computing: Promise<AttentionComputed>,
    signal: AbortSignal | null,
  ): Promise<AttentionComputed> {
    // Its failure is told in its turn, too.
    computing.catch(() => {});
    const inTurn = this.#last.then(nothing, nothing).then(() => computing);
    this.#last = inTurn;
    this.#waiting += 1;
    const end = (): void => {
      this.#waiting -= 1;
    };
    inTurn.then(end, end);
    return this.#unlessStopped(operation, inTurn, signal);
  }

  /** Reads arrays before it returns. */
  #compute(problem: AttentionProblem, signal: AbortSignal | null): Promise<AttentionComputed> {
    const open = this.#open;
    const { plan, isFallback, reasons } = this.#choose(problem);
    if (open === null || plan === null) {
      if (isFallback) this.#noteFallback(reasons);
      const isElsewhere = residentsOf(problem).some((resident) => resident instanceof GpuResident);
      if (!isElsewhere) return this.#wasm.attention(problem, signal);
      return this.#exchanged(
        problem,
        (resident) => this.#mirrorOf(resident),
        (own) => this.#wasm.attention(own, signal),
      );
    }
    if (!problem.retry) return this.#onGpu(open, problem, (own) => runOnGpu(open, own, plan));
    const kept = snapshot(problem);
    const computing = this.#onGpu(open, kept, (own) => runOnGpu(open, own, plan));
    return computing.catch(async (error: unknown) => {
      if (await this.recovers(error, kept)) return this.#compute(kept, signal);
      throw error;
    });
  }

  /** What lived on a device that is lost is gone, and so may be what was freed since: a call of that cannot be made again. */
  async recovers(error: unknown, problem: object): Promise<boolean> {
    const isLoss = error instanceof HeedError && error.code === "device-lost";
    const isGone = (resident: Resident): boolean => resident instanceof GpuResident || !resident.live;
    if (!isLoss || residentsOf(problem).some(isGone)) return false;
    await this.#replacing;
    return true;
  }

  /** Tensors that are not on the device are copied there. Arrays are read before this returns. */
  #onGpu<P extends object>(
    open: OpenDevice,
    problem: P,
    run: (problem: P) => Promise<AttentionComputed>,
  ): Promise<AttentionComputed> {
    const isElsewhere = residentsOf(problem).some((resident) => !isOn(open, resident));
    if (!isElsewhere) return this.#running(problem, run);
    return this.#exchanged(
      problem,
      (resident) => this.#copyOf(open, resident),
      (own) => this.#running(own, run),
    );
  }

  async #running<P extends object>(
    problem: P,
    run: (problem: P) => Promise<AttentionComputed>,
  ): Promise<AttentionComputed> {
    const used = residentsOf(problem).filter((resident) => resident instanceof GpuResident);
    this.#residents.hold(used);
    try {
      const computed = await run(problem);
      for (const resident of keptIn(computed)) this.#residents.add(resident);
      return computed;
    } catch (error) {
      throw used.find(({ failure }) => failure !== null)?.failure ?? error;
    } finally {
      this.#residents.letGo(used);
    }
  }

  /** With residents where they are needed: copied there first, of which other calls have the use as well. */
  async #exchanged<P extends object>(
    problem: P,
    exchange: (resident: Resident) => Promise<Resident>,
    run: (problem: P) => Promise<AttentionComputed>,
  ): Promise<AttentionComputed> {
    const own = snapshot(problem);
    const residents = residentsOf(own);
    const onGpu = residents.filter((resident) => resident instanceof GpuResident);
    this.#residents.hold(onGpu);
    try {
      const pairs = residents.map(async (resident) => [resident, await exchange(resident)] as const);
      return await run(withResidents(own, new Map(await Promise.all(pairs))));
    } finally {
      this.#residents.letGo(onGpu);
    }
  }

  /** In wasm, of what is on the GPU. */
  async #mirrorOf(resident: Resident): Promise<Resident> {
    if (!(resident instanceof GpuResident)) return resident;
    resident.mirror ??= this.#wasm.upload(await this.download(resident));
    return resident.mirror;
  }

  /** On the GPU, of what is in wasm. */
  async #copyOf(open: OpenDevice, resident: Resident): Promise<Resident> {
    if (isOn(open, resident)) return resident;
    const known = this.#copies.get(resident);
    if (known?.live === true) return known;
    const data = await this.#wasm.download(resident);
    const copy = this.#uploadTo(open, data);
    this.#copies.set(resident, copy);
    // Freed meanwhile: the copy goes with the call.
    if (!resident.live) this.#residents.free(copy);
    return copy;
  }

  /** Where tensors of so many bytes live; null: in wasm. What the GPU cannot bind is of no use there. */
  #homeOf(bytes: number): OpenDevice | null {
    const open = this.#mode === "auto" ? null : this.#open;
    return open !== null && bytes <= mostBytes(open.machine.limits) ? open : null;
  }

  #uploadTo(open: OpenDevice, data: Float32Array | Uint16Array): GpuResident {
    const { made: buffer, refused } = scoped(open.device, () => {
      const taken = open.pool.take("storage", Math.max(16, data.byteLength));
      writeBytes(open.device, taken, data, data.byteLength);
      return taken;
    });
    const dtype = data instanceof Uint16Array ? "f16" : "f32";
    const resident = this.#residents.add(new GpuResident(open, buffer, data.length, dtype, false));
    void refused.then((error) => {
      resident.failure = error;
    });
    return resident;
  }

  #forget({ mirror }: GpuResident): void {
    if (mirror !== null) this.#wasm.free(mirror);
  }

  #noteFallback(reasons: readonly string[]): void {
    for (const reason of reasons) if (this.#fallbacks.size < MOST_REASONS) this.#fallbacks.add(reason);
  }

  #stepOnto(open: OpenDevice): void {
    this.#open = open;
    void open.device.lost.then(() => {
      if (!this.#disposed) this.#replacing = this.#replace(open, causeText(open.loss.error));
    });
  }

  /** Calls compute on wasm meanwhile, and for good where there is no other device. */
  async #replace(lost: OpenDevice, why: string): Promise<void> {
    this.#open = null;
    this.#losses.push(why);
    lost.dispose();
    this.#reopenings += 1;
    if (this.#reopen === null || this.#reopenings > MOST_REOPENINGS) return;
    try {
      const open = await this.#reopen();
      if (this.#disposed) open.dispose();
      else this.#stepOnto(open);
    } catch (error) {
      this.#losses.push(causeText(error));
    }
  }

  /** Aborted and disposed calls reject at once; what they would have kept goes when it is there. */
  async #unlessStopped(
    operation: string,
    computing: Promise<AttentionComputed>,
    signal: AbortSignal | null,
  ): Promise<AttentionComputed> {
    const abort = new Ending();
    const stop = (): void => {
      abort.come(new HeedError("aborted", `${operation}: aborted by its signal`, { cause: signal?.reason }));
    };
    signal?.addEventListener("abort", stop, { once: true });
    try {
      return await this.#end.unless(abort.unless(computing));
    } catch (error) {
      computing.then((computed) => {
        for (const part of partsOf(computed)) if (part.kind === "resident") this.free(part.resident);
      }, nothing);
      throw error;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  #assertUsable(where: string): void {
    if (this.#disposed) throw new HeedError("disposed", `${where}: the engine was disposed`);
  }
}

function nothing(): void {}

/** What failed below says that attention did, which nearly all of it does. */
function renamed(error: unknown): never {
  if (!(error instanceof HeedError)) throw error;
  throw new HeedError(error.code, error.message.replace(/^attention:/, "rope:"), { cause: error.cause });
}

const bytesOf = (dtype: DType): number => (dtype === "f16" ? 2 : 4);

function isOn(open: OpenDevice, resident: Resident): boolean {
  return resident instanceof GpuResident && resident.home === open;
}

function partsOf(computed: AttentionComputed): readonly Computed[] {
  return Object.values(computed).filter((part) => part !== null);
}

function keptIn(computed: AttentionComputed): readonly GpuResident[] {
  return partsOf(computed).flatMap((part) =>
    part.kind === "resident" && part.resident instanceof GpuResident ? [part.resident] : [],
  );
}

/** STORAGE and COPY_SRC, which kernels and reading back need. */
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
