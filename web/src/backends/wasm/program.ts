// A program of calls: gives each call's results their memory as it is recorded, and hands the calls on in order.

import { HeedError } from "../../base/errors.js";
import { nextTask, TASK_MS } from "../../platform/next-task.js";
import type { Kept, ModuleName, Operation, Program, Resident, RootBackend, Span } from "../backend.js";
import { CallChain } from "./call-chain.js";
import { CallList } from "./call-list.js";
import type { Calls, Compute } from "./calls.js";
import { type Job, jobOf, type OutputPart, type Scratch } from "./job.js";
import type { Kernels } from "./kernels.js";
import type { Ladder } from "./ladder.js";
import { FrontPlace, type Place } from "./place.js";
import type { Caller } from "./prepared.js";
import { abortedError } from "./queue.js";
import type { Remote } from "./remote.js";
import { bring, lostError, RemoteCalls, untilWorker } from "./remote-calls.js";
import { WasmResident } from "./resident.js";

/** Begins a program when the engine has the module. */
export async function openProgram(
  backend: RootBackend & Caller,
  ladder: Ladder,
  signal: AbortSignal | null,
  module: ModuleName,
): Promise<Program> {
  await ladder.use(module);
  for (;;) {
    while (!ladder.canRun(module)) await ladder.untilChange(module, "heed/layers");
    if (ladder.current("heed/layers").runner.remote?.members.length !== 0) break;
    await untilWorker(backend, ladder, signal);
  }
  const program = new CallProgram(backend, ladder, signal);
  ladder.enter();
  return program;
}

class CallProgram implements Program {
  readonly root: RootBackend;
  readonly #caller: Caller;
  readonly #ladder: Ladder;
  readonly #kernels: Kernels;
  readonly #remote: Remote | undefined;
  readonly #signal: AbortSignal | null;
  readonly #calls: Calls;
  readonly #place: Place;
  /** Residents that the program made and has not freed. */
  readonly #own = new Set<WasmResident>();
  /** Residents of others that it uses. */
  readonly #held = new Set<WasmResident>();
  readonly #scratch: Scratch = [];
  #failure: unknown = null;
  /** How long to record at a time: a worker with its own memory is sent the next calls in a new task. */
  readonly #task: number;
  /** When to give way to the page. */
  #until = 0;

  constructor(backend: RootBackend & Caller, ladder: Ladder, signal: AbortSignal | null) {
    const { kernels, rung, runner } = ladder.current("heed/layers");
    this.root = backend;
    this.#caller = backend;
    this.#ladder = ladder;
    this.#kernels = kernels;
    this.#signal = signal;
    const compute: Compute = (job, multiplications) => this.#compute(job, multiplications);
    this.#remote = runner.remote;
    this.#task = runner.remote === undefined ? TASK_MS : 1;
    this.#until = performance.now() + this.#task;
    if (runner.remote !== undefined) {
      this.#calls = this.#place = new RemoteCalls(kernels, runner.remote, compute);
      ladder.bring = (residents, isMoving) => bring(ladder, residents, isMoving);
    } else {
      this.#calls = rung.worker === "shared-memory" ? new CallList(kernels, compute) : new CallChain(compute);
      this.#place = new FrontPlace(kernels);
    }
  }

  async run<P extends object>(operation: Operation<P>, problem: P): Promise<readonly Kept[]> {
    const job = jobOf(operation, problem, this.#scratch);
    this.#assertUsable(job.operation);
    for (const { resident } of job.residents) {
      if (resident.away?.lost) throw lostError(resident.away.lost);
      this.#hold(resident);
    }
    for (const part of job.outputs) job.made.set(part, this.#allocate(part));
    this.#calls.add(job, operation.work(problem));
    const kept = job.outputs.map((part) => keptOf(job, part));
    if (performance.now() < this.#until) return kept;
    await nextTask();
    this.#until = performance.now() + this.#task;
    return kept;
  }

  upload(data: Float32Array): Resident {
    this.#assertUsable("heed/layers");
    const resident = new WasmResident(0, data.length, "f32");
    this.#place.upload(resident, data);
    this.#own.add(resident);
    return resident;
  }

  async download(resident: Resident): Promise<Float32Array | Uint16Array> {
    await this.flush();
    return this.root.download(resident);
  }

  free(resident: Resident): void {
    if (!(resident instanceof WasmResident) || !this.#own.delete(resident)) {
      this.root.free(resident);
      return;
    }
    resident.live = false;
    this.#place.free(resident);
  }

  changed(resident: Resident, spans: readonly Span[]): void {
    if (resident instanceof WasmResident) this.#place.changed(resident, spans);
  }

  async bring(residents: readonly Resident[]): Promise<void> {
    await this.flush();
    await this.#ladder.bring?.(residents.filter((one) => one instanceof WasmResident));
  }

  hold(resident: Resident): void {
    if (resident instanceof WasmResident) this.#hold(resident);
  }

  keep(resident: Resident): Resident {
    this.#assertUsable("heed/layers");
    if (!(resident instanceof WasmResident) || !this.#own.delete(resident)) return resident;
    resident.live = false;
    const kept = this.#ladder.residents.add(resident.address, resident.elements, resident.dtype);
    this.#place.move(resident, kept);
    return kept;
  }

  async flush(): Promise<void> {
    await this.#calls.settled();
    this.#assertUsable("heed/layers");
    await this.#place.bringBack().catch((error: unknown) => {
      this.#ladder.current("heed/layers");
      throw error;
    });
    this.#until = performance.now() + this.#task;
  }

  async close(): Promise<void> {
    try {
      await this.#close();
    } finally {
      this.#ladder.leave();
    }
  }

  async #close(): Promise<void> {
    this.#failure ??= new HeedError("disposed", "heed/layers: the pass has ended");
    this.#calls.stop();
    await this.#calls.settled();
    this.#ladder.residents.release([...this.#held]);
    for (const resident of this.#own) this.free(resident);
    // A worker that was terminated may have held the allocator's lock.
    if (this.#ladder.disposed) return;
    this.#calls.dispose();
    this.#place.release();
  }

  /** Whether the engine still has the memory in which the program began, and the workers. */
  get #isHere(): boolean {
    const { open } = this.#ladder;
    return this.#ladder.canRun("full") && open?.kernels === this.#kernels && open.runner.remote === this.#remote;
  }

  #allocate({ elements, to }: OutputPart): WasmResident {
    if (to !== "resident") throw new TypeError("the results of a program's calls stay in the engine");
    const resident = new WasmResident(0, elements, "f32");
    this.#place.make(resident);
    this.#own.add(resident);
    return resident;
  }

  #hold(resident: WasmResident): void {
    if (this.#own.has(resident) || this.#held.has(resident)) return;
    this.#held.add(resident);
    this.#ladder.residents.hold([resident]);
  }

  async #compute(job: Job, multiplications: number): Promise<void> {
    const { operation } = job;
    let hasBegun = false;
    let isOver = (): void => {};
    const ended = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    const begin = (): void => {
      this.#assertUsable(operation);
      hasBegun = true;
    };
    const over = (): void => {
      // What a call makes is the program's, also if it fails.
      job.made.clear();
      isOver();
    };
    const prepared = { job, module: "full", multiplications, begin, over } as const;
    try {
      await this.#caller.compute(operation, this.#signal, () => prepared);
    } catch (error) {
      this.#fail(error);
    }
    // A call that was aborted may still run.
    if (hasBegun) await ended;
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#calls.stop();
  }

  #assertUsable(operation: string): void {
    this.#ladder.current(operation);
    if (this.#signal?.aborted === true) this.#failure ??= abortedError(operation, this.#signal.reason);
    if (!this.#isHere) this.#failure ??= new HeedError("device-lost", `${operation}: the engine's memory is lost`);
    if (this.#failure !== null) throw this.#failure;
  }
}

function keptOf({ made }: Job, part: OutputPart): Kept {
  const resident = made.get(part);
  if (resident === undefined) throw new TypeError("a recorded call lacks a result");
  return { kind: "resident", resident };
}
