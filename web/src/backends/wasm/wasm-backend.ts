// The WebAssembly backend: the fallback chain and its current rung, the queue of calls, and the residents that they share.

import { causeText, HeedError } from "../../base/errors.js";
import { finalise, unfinalise } from "../../memory/disposable.js";
import type { Choice } from "../../platform/select.js";
import type {
  BackendReport,
  Computed,
  CoreOperation,
  DType,
  Explanation,
  MemoryReport,
  ModuleName,
  Operation,
  Program,
  Resident,
  RootBackend,
  Span,
} from "../backend.js";
import { fill } from "../fill.js";
import { isSmall } from "./cost.js";
import { type Job, jobOf, lasting, type OutputPart, type Scratch, snapshot } from "./job.js";
import type { Finished, Kernels } from "./kernels.js";
import { disposedError, Ladder } from "./ladder.js";
import type { Begun, Caller, Prepared } from "./prepared.js";
import { abortedError, type CancelFlag, Queue } from "./queue.js";
import { byteSize, WasmResident } from "./resident.js";
import type { RungOverrides } from "./rung.js";
import type { Runner } from "./runner.js";
import { WorkerLost } from "./worker-link.js";

export class WasmBackend implements RootBackend, Caller {
  readonly #overrides: RungOverrides;
  readonly #ladder: Ladder;
  readonly #queue: Queue;
  readonly #scratch: Scratch = [];

  /** Opens the best rung that works. Throws HeedError `load` when none does. */
  static async open(choice: Choice, overrides: RungOverrides): Promise<WasmBackend> {
    const ladder = new Ladder(choice, overrides);
    await ladder.descend();
    return new WasmBackend(ladder, overrides);
  }

  private constructor(ladder: Ladder, overrides: RungOverrides) {
    this.#ladder = ladder;
    this.#overrides = overrides;
    this.#queue = new Queue(() => ladder.open?.runner.calls ?? 1);
    // What the finaliser ends does not refer to the backend.
    finalise(this, () => ladder.dispose());
  }

  get root(): RootBackend {
    return this;
  }

  report(): BackendReport {
    const { open, rung } = this.#ladder;
    const variant = rung?.variant.startsWith("wasm-relaxed") ? "relaxed" : "simd";
    const { threads, threadReasons } = open?.runner ?? { threads: 1, threadReasons: [] };
    const wanted = this.#overrides.threads;
    const fewer = threads < wanted ? [`${threads} of ${wanted} threads compute: ${threadReasons.join("; ")}`] : [];
    const reasons = [...this.#ladder.reasons, ...fewer];
    return { backend: "wasm", variant, worker: rung?.worker ?? null, threads, reasons };
  }

  explain(): Explanation {
    const { backend, reasons } = this.report();
    return { backend, reasons };
  }

  memory(): MemoryReport {
    const { open, residents } = this.#ladder;
    const engine = open?.kernels.heap.byteLength ?? 0;
    const workers = open?.runner.memoryBytes ?? 0;
    return { total: engine + workers, engine, workers, tensors: residents.count, tensorBytes: residents.bytes };
  }

  use(module: ModuleName): Promise<void> {
    return this.#ladder.use(module);
  }

  async program(signal: AbortSignal | null, module: ModuleName): Promise<Program> {
    const { openProgram } = await import("./program.js");
    return openProgram(this, this.#ladder, signal, module);
  }

  run<P extends object>(operation: Operation<P>, problem: P, signal: AbortSignal | null): Promise<readonly Computed[]> {
    return this.compute(operation.name, signal, () => ({
      job: jobOf(operation, problem, this.#scratch),
      module: operation.module ?? "full",
      multiplications: operation.work(problem),
    }));
  }

  runSync<P extends object>(operation: CoreOperation<P>, problem: P): readonly Computed[] {
    const { kernels } = this.#ladder.current(`${operation.name}Sync`);
    try {
      return this.#computeNow(kernels, { job: jobOf(operation, problem, this.#scratch) });
    } finally {
      // Recovery does not wait for the next async call, because there may be none.
      if (kernels.abandoned) this.#ladder.recover().catch(() => {});
    }
  }

  upload(data: Float32Array | Uint16Array): Resident {
    const { kernels } = this.#ladder.current("tensor");
    const address = kernels.upload(data.byteLength, () => data);
    return this.#ladder.residents.add(address, data.length, data instanceof Uint16Array ? "f16" : "f32");
  }

  zeros(elements: number, dtype: DType, isFilled = true): WasmResident {
    const { kernels } = this.#ladder.current("zeros");
    const address = kernels.allocate(byteSize(elements, dtype));
    const made = this.#ladder.residents.add(address, elements, dtype);
    if (isFilled) this.bytesOf("zeros", made).fill(0);
    return made;
  }

  async download(resident: Resident): Promise<Float32Array | Uint16Array> {
    // One of another backend is not away.
    const own = resident as WasmResident;
    if (own.away) await this.#ladder.bring?.([own]);
    const { kernels } = this.#ladder.current("Tensor.read");
    if (!(resident instanceof WasmResident) || !resident.live) throw disposedError("Tensor.read");
    const { buffer } = new Uint8Array(kernels.heap.bytes(resident.address, resident.bytes));
    return resident.dtype === "f16" ? new Uint16Array(buffer) : new Float32Array(buffer);
  }

  free(resident: Resident): void {
    if (resident instanceof WasmResident) this.#ladder.residents.free(resident);
  }

  page(bytes: number): Resident {
    return this.zeros(bytes / Float32Array.BYTES_PER_ELEMENT, "f32");
  }

  bytesOf(where: string, resident: Resident): Uint8Array<ArrayBuffer> {
    const { kernels } = this.#ladder.current(where);
    if (!(resident instanceof WasmResident) || !resident.live) throw disposedError(where);
    return kernels.heap.bytes(resident.address, resident.bytes);
  }

  changed(resident: Resident, spans: readonly Span[]): void {
    if (resident instanceof WasmResident) this.#ladder.open?.runner.forget(resident, spans);
  }

  dispose(): void {
    if (this.#ladder.disposed) return;
    unfinalise(this);
    this.#queue.close(new HeedError("disposed", "the engine was disposed"));
    this.#ladder.dispose();
  }

  async compute(operation: string, signal: AbortSignal | null, prepare: () => Prepared): Promise<readonly Computed[]> {
    const { kernels } = this.#ladder.current(operation);
    // A pass of layers has one signal for many calls.
    if (signal?.aborted === true) throw abortedError(operation, signal.reason);
    const prepared = prepare();
    const { module, multiplications } = prepared;
    const startsNow = this.#ladder.free(module) !== null && this.#queue.admits(prepared.job.bytes);
    const { offload } = this.#overrides;
    if (startsNow && offload === "auto" && isSmall(multiplications, prepared.job.bytes)) {
      return this.#unlessEnded(operation, this.#computeNow(kernels, prepared), signal);
    }
    const job = startsNow ? lasting(prepared.job) : snapshot(prepared.job);
    const used = job.residents.map(({ resident }) => resident);
    this.#ladder.residents.hold(used);
    return this.#queue.push(
      {
        bytes: job.bytes,
        blocked: () => (this.#ladder.free(module) === null ? this.#ladder.untilChange(module, operation) : null),
        run: (flag) => this.#run({ ...prepared, job }, flag),
        interrupt: () => this.#ladder.open?.runner.interrupt(job),
        done: () => {
          this.#ladder.residents.release(used);
          this.#end(prepared);
        },
      },
      signal,
      operation,
    );
  }

  /** On the calling thread. */
  #computeNow(kernels: Kernels, prepared: Begun): readonly Computed[] {
    const { job } = prepared;
    try {
      this.#allocate(job);
      return collected(job, kernels.compute(job));
    } finally {
      this.#end(prepared);
    }
  }

  /** Allocates the residents that the job writes to. */
  #allocate({ outputs, made }: Job): void {
    for (const part of outputs) {
      if (part.to !== "resident" || made.has(part)) continue;
      made.set(part, this.zeros(part.elements, "f32", false));
    }
  }

  /** Frees the residents that nobody has taken, because the job failed. */
  #end({ job, over }: Begun): void {
    over?.();
    for (const resident of job.made.values()) this.free(resident);
  }

  /** A call that was computed synchronously can still be aborted, and rejects when the engine is disposed, as any other. */
  async #unlessEnded(
    operation: string,
    computed: readonly Computed[],
    signal: AbortSignal | null,
  ): Promise<readonly Computed[]> {
    await null;
    if (this.#ladder.disposed) throw disposedError(operation);
    if (signal?.aborted !== true) return computed;
    for (const part of computed) if (part.kind === "resident") this.free(part.resident);
    throw abortedError(operation, signal.reason);
  }

  /** A call that starts now must have its inputs read before this returns, so nothing is awaited before the runner has the job. */
  async #run({ job, multiplications, begin }: Prepared, flag: CancelFlag): Promise<readonly Computed[]> {
    const { runner } = this.#ladder.current(job.operation);
    begin?.();
    this.#allocate(job);
    const finished = await this.#runOn(runner, job, multiplications, flag);
    return collected(job, finished, flag);
  }

  async #runOn(runner: Runner, job: Job, multiplications: number, flag: CancelFlag): Promise<Finished> {
    try {
      return await this.#ladder.track(runner.run(job, multiplications));
    } catch (error) {
      if (!(error instanceof WorkerLost)) throw error;
      const { disposed, open } = this.#ladder;
      if (!disposed && !flag.cancelled && open?.runner === runner) await this.#ladder.recover();
      throw new HeedError("device-lost", `${job.operation}: the worker that computed it is lost: ${error.message}`, {
        cause: error,
      });
    }
  }
}

/** Takes results out of their block, which is given back in any case. */
function collected(job: Job, finished: Finished, flag?: CancelFlag): readonly Computed[] {
  try {
    if (flag?.cancelled) throw abortedError(job.operation);
    return job.outputs.map((part) => computedOf(finished, job, part));
  } catch (cause) {
    if (cause instanceof HeedError) throw cause;
    // A RangeError, of an array that does not fit.
    throw new HeedError("memory", `${job.operation}: no room for the results: ${causeText(cause)}`, { cause });
  } finally {
    finished.release();
  }
}

/** The caller's from now on. */
function computedOf(finished: Finished, { made, operation }: Job, part: OutputPart): Computed {
  const resident = made.get(part);
  if (resident === undefined) {
    const array =
      part.to instanceof Float32Array ? fill(operation, part.to, finished.view(part)) : finished.array(part);
    return { kind: "array", array };
  }
  made.delete(part);
  return { kind: "resident", resident };
}
