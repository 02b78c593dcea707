// The WebAssembly backend: the fallback chain and its current rung, the queue of calls, and the residents that they share.

import { causeText, HeedError } from "../../api/errors.js";
import { finalise, unfinalise } from "../../memory/disposable.js";
import type { Choice } from "../../platform/select.js";
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
import { type AttentionJob, attentionJob } from "./attention-job.js";
import { isSmall, multiplicationsOf } from "./cost.js";
import { ATTENTION_CALL } from "./generated/attention-call.js";
import { type Job, lasting, type OutputPart, snapshot } from "./job.js";
import type { Finished } from "./kernels.js";
import { type CancelFlag, Queue } from "./queue.js";
import { byteSize, WasmResident } from "./resident.js";
import { Residents } from "./residents.js";
import { type OpenRung, openRung, type RungOverrides } from "./rung.js";
import { WorkerLost } from "./worker-link.js";

/** What the finaliser disposes of when the backend is collected. So nothing here may refer to the backend. */
interface Running {
  /** The current rung; null after `dispose`, or when no rung is left. */
  open: OpenRung | null;
}

/** A call with its layout, and what to do with its results. */
export interface Prepared<C> {
  readonly job: Job;
  readonly multiplications: number;
  /** Takes the results and gives the block back. */
  readonly collect: (finished: Finished) => C;
}

/** Both kinds of workers run the same script, so where it stays silent for one, it does for the other. */
const WORKER_KINDS = ["shared-memory", "private-memory"] as const;

export class WasmBackend implements Backend {
  readonly #choice: Choice;
  readonly #overrides: RungOverrides;
  readonly #reasons: string[];
  readonly #queue = new Queue(() => this.#open?.runner.calls ?? 1);
  readonly #freed: (() => void) | undefined;
  // A closure of the constructor would share its scope with the finaliser, which must not hold the backend.
  readonly #residents = new Residents((resident) => {
    this.#open?.runner.forget(resident);
    this.#open?.kernels.release(resident.address);
    this.#freed?.();
  });
  /** The call of jobs that end before the next is made. It is reused, because allocating a typed array is slow. */
  readonly #call = new Int32Array(ATTENTION_CALL.words);
  readonly #running: Running = { open: null };
  #rungsTried = 0;
  #recovering: Promise<void> | null = null;
  /** Runs in flight. */
  readonly #runs = new Set<Promise<unknown>>();
  #disposed = false;

  /** Opens the best rung that works. Throws HeedError `load` when none does. `freed` is called after each resident is released. */
  static async open(choice: Choice, overrides: RungOverrides, freed?: () => void): Promise<WasmBackend> {
    const backend = new WasmBackend(choice, overrides, freed);
    await backend.#descend();
    return backend;
  }

  private constructor(choice: Choice, overrides: RungOverrides, freed?: () => void) {
    this.#choice = choice;
    this.#overrides = overrides;
    this.#reasons = [...choice.reasons];
    this.#freed = freed;
    const running = this.#running;
    finalise(this, () => running.open?.runner.dispose());
  }

  get #open(): OpenRung | null {
    return this.#running.open;
  }

  report(): BackendReport {
    const rung = this.#open?.rung ?? this.#choice.ladder.at(-1);
    const variant = rung?.variant.startsWith("wasm-relaxed") ? "relaxed" : "simd";
    const { threads, threadReasons } = this.#open?.runner ?? { threads: 1, threadReasons: [] };
    const wanted = this.#overrides.threads;
    const fewer = threads < wanted ? [`${threads} of ${wanted} threads compute: ${threadReasons.join("; ")}`] : [];
    const reasons = [...this.#reasons, ...fewer];
    return { backend: "wasm", variant, worker: rung?.worker ?? null, threads, reasons };
  }

  explain(): Explanation {
    const { backend, reasons } = this.report();
    return { backend, reasons };
  }

  memory(): MemoryReport {
    const engine = this.#open?.kernels.heap.byteLength ?? 0;
    const workers = this.#open?.runner.memoryBytes ?? 0;
    const { count, bytes } = this.#residents;
    return { total: engine + workers, engine, workers, tensors: count, tensorBytes: bytes };
  }

  /** Tasks or shards that a worker has done so far. Tests read it. */
  tasksDone(worker: number): number {
    return this.#current("heed").runner.tasksDone(worker);
  }

  attention(problem: AttentionProblem, signal: AbortSignal | null): Promise<AttentionComputed> {
    return this.compute("attention", signal, () => {
      const job = attentionJob(problem, this.#call);
      return {
        job,
        multiplications: multiplicationsOf(problem),
        collect: (finished) => this.#collect(finished, job, problem),
      };
    });
  }

  attentionSync(problem: AttentionProblem): AttentionComputed {
    const { kernels } = this.#current("attentionSync");
    try {
      const job = attentionJob(problem, this.#call);
      return this.#collect(kernels.compute(job), job, problem);
    } finally {
      // Recovery does not wait for the next async call, because there may be none.
      if (kernels.abandoned)
        this.#queue.push({ bytes: 0, run: () => this.#recover(), interrupt() {}, done() {} }, null).catch(() => {});
    }
  }

  upload(data: Float32Array | Uint16Array): Resident {
    const { kernels } = this.#current("tensor");
    const address = kernels.upload(data.byteLength, () => data);
    return this.#residents.add(address, data.length, data instanceof Uint16Array ? "f16" : "f32");
  }

  /** Copies an output into a resident. */
  keep(finished: Finished, part: OutputPart): Resident {
    const { kernels } = this.#current("attention");
    const address = kernels.upload(byteSize(part.elements, "f32"), () => finished.view(part));
    return this.#residents.add(address, part.elements, "f32");
  }

  zeros(elements: number, dtype: DType): Resident {
    const { kernels } = this.#current("zeros");
    return this.#residents.add(kernels.zeros(byteSize(elements, dtype)), elements, dtype);
  }

  async download(resident: Resident): Promise<Float32Array | Uint16Array> {
    const { kernels } = this.#current("Tensor.read");
    if (!(resident instanceof WasmResident) || !resident.live) throw disposedError("Tensor.read");
    const { buffer } = new Uint8Array(kernels.heap.bytes(resident.address, resident.bytes));
    return resident.dtype === "f16" ? new Uint16Array(buffer) : new Float32Array(buffer);
  }

  free(resident: Resident): void {
    if (resident instanceof WasmResident) this.#residents.free(resident);
  }

  page(bytes: number): Resident {
    return this.zeros(bytes / Float32Array.BYTES_PER_ELEMENT, "f32");
  }

  bytesOf(where: string, resident: Resident): Uint8Array<ArrayBuffer> {
    const { kernels } = this.#current(where);
    if (!(resident instanceof WasmResident) || !resident.live) throw disposedError(where);
    return kernels.heap.bytes(resident.address, resident.bytes);
  }

  changed(resident: Resident, spans: readonly Span[]): void {
    if (resident instanceof WasmResident) this.#open?.runner.forget(resident, spans);
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    unfinalise(this);
    this.#queue.close(disposedError("attention"));
    this.#open?.runner.dispose();
    this.#residents.forgetAll();
    // The heap is freed with its last reference.
    this.#running.open = null;
  }

  /** Runs a call of any operation. */
  async compute<C>(operation: string, signal: AbortSignal | null, prepare: () => Prepared<C>): Promise<C> {
    const { kernels } = this.#current(operation);
    const prepared = prepare();
    const { multiplications, collect } = prepared;
    const startsNow = this.#isUsable && this.#queue.admits(prepared.job.bytes);
    const { offload } = this.#overrides;
    if (startsNow && offload === "auto" && isSmall(multiplications, prepared.job.bytes)) {
      return this.#unlessEnded(operation, collect(kernels.compute(prepared.job)), signal);
    }
    const job = startsNow ? lasting(prepared.job) : snapshot(prepared.job);
    const used = job.residents.map(({ resident }) => resident);
    this.#residents.hold(used);
    return this.#queue.push(
      {
        bytes: job.bytes,
        run: (flag) => this.#run({ job, multiplications, collect }, flag),
        interrupt: () => this.#open?.runner.interrupt(job),
        done: () => this.#residents.release(used),
      },
      signal,
      operation,
    );
  }

  /** A call that was computed synchronously can still be aborted, and rejects when the engine is disposed, as any other. */
  async #unlessEnded<C>(operation: string, computed: C, signal: AbortSignal | null): Promise<C> {
    await null;
    if (this.#disposed) throw disposedError(operation);
    if (signal?.aborted !== true) return computed;
    for (const part of Object.values(computed ?? {})) if (isKept(part)) this.free(part.resident);
    throw new HeedError("aborted", `${operation}: aborted by its signal`, { cause: signal.reason });
  }

  /** A call that starts now must have its inputs read before this returns, so nothing is awaited before the runner has the job. */
  async #run<C>({ job, multiplications, collect }: Prepared<C>, flag: CancelFlag): Promise<C> {
    // After a fallback the new rung may take fewer calls at a time than were started on the last.
    let runner = this.#freeRunner;
    for (; runner === null; runner = this.#freeRunner) await this.#untilChange(job.operation);
    if (flag.cancelled) throw new HeedError("aborted", `${job.operation}: aborted by its signal`);
    const finished = await this.#runOn(runner, job, multiplications, flag);
    if (flag.cancelled) {
      finished.release();
      throw new HeedError("aborted", `${job.operation}: aborted by its signal`);
    }
    return collect(finished);
  }

  async #runOn(runner: OpenRung["runner"], job: Job, multiplications: number, flag: CancelFlag): Promise<Finished> {
    const run = runner.run(job, multiplications);
    const over: Promise<unknown> = run.catch(() => {}).then(() => this.#runs.delete(over));
    this.#runs.add(over);
    try {
      return await run;
    } catch (error) {
      if (!(error instanceof WorkerLost)) throw error;
      if (!this.#disposed && !flag.cancelled && this.#open?.runner === runner) await this.#recover();
      throw new HeedError("device-lost", `${job.operation}: the worker that computed it is lost: ${error.message}`, {
        cause: error,
      });
    }
  }

  /** The runner, if it can take another call now. */
  get #freeRunner(): OpenRung["runner"] | null {
    const runner = this.#open?.runner;
    return runner !== undefined && this.#isUsable && this.#runs.size < runner.calls ? runner : null;
  }

  /** Resolves when the backend is usable again, or when a run is over. */
  #untilChange(operation: string): Promise<unknown> {
    this.#current(operation);
    return this.#isUsable ? Promise.race(this.#runs) : this.#recover();
  }

  /** Copies results into arrays or residents; the block is freed in any case. */
  #collect(finished: Finished, job: AttentionJob, problem: AttentionProblem): AttentionComputed {
    const made: Resident[] = [];
    const take = (part: OutputPart, into: Float32Array | null): Computed => {
      if (into !== null) return { kind: "array", array: fill(into, finished.view(part)) };
      if (part.leaves) return { kind: "array", array: finished.array(part) };
      const resident = this.keep(finished, part);
      made.push(resident);
      return { kind: "resident", resident };
    };
    try {
      return {
        output: take(job.output, problem.into),
        weights: job.weights && take(job.weights, null),
        lse: job.lse && take(job.lse, null),
        scores: job.scores && take(job.scores, null),
        entropy: job.entropy && take(job.entropy, null),
      };
    } catch (error) {
      for (const resident of made) this.free(resident);
      throw asHeedError(job.operation, error);
    } finally {
      finished.release();
    }
  }

  /** Moves to the next rung that works, residents included. */
  async #descend(lost: WorkerLost | null = null): Promise<void> {
    if (lost !== null) this.#reasons.push(`the worker was lost (${lost.message})`);
    const previous = this.#open;
    const failures: unknown[] = [];
    // A kind of worker that was lost or did not start is not tried again: another variant would not help.
    const missing = new Set<unknown>(lost === null ? [] : [previous?.rung.worker]);
    for (const rung of this.#choice.ladder.slice(this.#rungsTried)) {
      this.#rungsTried += 1;
      if (rung.worker !== null && missing.has(rung.worker)) continue;
      try {
        const open = await openRung(rung, this.#overrides, previous);
        if (this.#disposed) open.runner.dispose();
        else this.#stepOnto(open, previous);
        return;
      } catch (error) {
        failures.push(error);
        if (error instanceof WorkerLost)
          for (const kind of error.isSilent ? WORKER_KINDS : [rung.worker]) missing.add(kind);
        this.#reasons.push(`${rung.variant} with ${rung.worker ?? "no"} worker was refused: ${causeText(error)}`);
      }
    }
    this.#running.open = null;
    const probed = this.#reasons.join("; ");
    throw new HeedError("load", `createHeed: heed cannot run here: ${probed}`, { cause: failures.at(-1) });
  }

  /** Whether the current rung can compute calls. */
  get #isUsable(): boolean {
    return this.#recovering === null && this.#open?.runner.lost === null && !this.#open.kernels.abandoned;
  }

  /** Makes the backend usable again, once for all calls that need it. */
  #recover(): Promise<void> {
    this.#recovering ??= this.#reopen().finally(() => {
      this.#recovering = null;
    });
    return this.#recovering;
  }

  /** A lost runner is replaced by the next rung. A trapped front instance is replaced by the same rung, once the workers are done with its memory. */
  async #reopen(): Promise<void> {
    const lost = this.#open?.runner.lost ?? null;
    if (lost !== null) await this.#descend(lost);
    if (this.#open?.kernels.abandoned !== true) return;
    await Promise.all(this.#runs);
    this.#rungsTried -= 1;
    await this.#descend();
  }

  #stepOnto(open: OpenRung, previous: OpenRung | null): void {
    try {
      if (previous !== null && previous.kernels !== open.kernels) this.#residents.move(previous.kernels, open.kernels);
    } catch (error) {
      open.runner.dispose();
      throw error;
    }
    previous?.runner.dispose();
    this.#running.open = open;
  }

  #current(where: string): OpenRung {
    if (this.#open !== null) return this.#open;
    if (this.#disposed) throw disposedError(where);
    throw new HeedError("load", `${where}: heed cannot run here any more: ${this.#reasons.join("; ")}`);
  }
}

function isKept(part: unknown): part is { readonly resident: Resident } {
  return typeof part === "object" && part !== null && "resident" in part && part.resident instanceof WasmResident;
}

function disposedError(where: string): HeedError {
  return new HeedError("disposed", `${where}: the engine was disposed`);
}

function fill(into: Float32Array, view: Float32Array): Float32Array {
  if (into.length < view.length) {
    throw new HeedError("shape", "attention: out lost its buffer or shrank while the call ran");
  }
  into.set(view);
  return into.length === view.length ? into : into.subarray(0, view.length);
}

/** Turns the RangeError of an array that does not fit into a HeedError. */
export function asHeedError(operation: string, error: unknown): HeedError {
  if (error instanceof HeedError) return error;
  return new HeedError("memory", `${operation}: no room for the results: ${causeText(error)}`, { cause: error });
}
