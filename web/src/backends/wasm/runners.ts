// Where an async call computes: in workers on the front's memory, in a worker with its own, or right here. One interface.

import { HeedError } from "../../api/errors.js";
import type { Block } from "../../memory/arena.js";
import { type Job, outputsOf, relativeWords, writeJob } from "./job.js";
import { type Finished, type Kernels, throwStatus } from "./kernels.js";
import { type BlockMessage, type DoneMessage, NO_ROOM, TRAPPED } from "./protocol.js";
import type { WasmResident } from "./residents.js";
import { WorkerLink, WorkerLost, type WorkerOverrides } from "./worker-link.js";
import { WorkerPool } from "./worker-pool.js";

/** One job at a time. `run` reads the job's inputs before it returns; it rejects with WorkerLost when the runner is gone. */
export interface Runner {
  run(job: Job): Promise<Finished>;
  /** Why it can run nothing more; null while it can. */
  readonly lost: WorkerLost | null;
  /** Threads that compute a call. */
  readonly threads: number;
  /** Why it is not more. */
  readonly threadReasons: readonly string[];
  /** Stops the job that runs, where that leaves the runner whole. */
  interrupt(): void;
  /** A resident was freed. */
  forget(resident: WasmResident): void;
  dispose(): void;
}

/** Computes on the calling thread. */
export class LocalRunner implements Runner {
  readonly lost = null;
  readonly threads = 1;
  readonly threadReasons = ["the calling thread computes alone"];
  readonly #kernels: Kernels;

  constructor(kernels: Kernels) {
    this.#kernels = kernels;
  }

  async run(job: Job): Promise<Finished> {
    return this.#kernels.compute(job);
  }

  interrupt(): void {}
  forget(): void {}
  dispose(): void {}
}

/** Computes in a pool of workers on the front instance's memory: only an address crosses. */
export class SharedRunner implements Runner {
  readonly #kernels: Kernels;
  readonly #pool: WorkerPool;
  /** Of the call that runs. */
  #block: Block | null = null;

  static async open(kernels: Kernels, overrides: WorkerOverrides, threads: number): Promise<SharedRunner> {
    return new SharedRunner(kernels, await WorkerPool.open(kernels, overrides, threads));
  }

  private constructor(kernels: Kernels, pool: WorkerPool) {
    this.#kernels = kernels;
    this.#pool = pool;
  }

  get lost(): WorkerLost | null {
    return this.#pool.lost;
  }

  get threads(): number {
    return this.#pool.threads;
  }

  get threadReasons(): readonly string[] {
    return this.#pool.missing;
  }

  async run(job: Job): Promise<Finished> {
    const block: Block = this.#kernels.place(job);
    this.#block = block;
    try {
      throwOutcome(await this.#pool.call(block.address));
    } catch (error) {
      if (error instanceof WorkerLost) this.#kernels.abandon();
      this.#kernels.arena.give(block);
      throw error;
    } finally {
      this.#block = null;
    }
    return this.#kernels.finished(block);
  }

  /** Asks the workers to stop after their present task. One that was terminated could hold the allocator's lock. */
  interrupt(): void {
    if (this.#block !== null) this.#kernels.stop(this.#block);
  }

  forget(): void {}

  dispose(): void {
    this.#pool.dispose();
  }
}

/** Computes in a worker with a memory of its own: the block travels there, results travel back. */
export class PrivateRunner implements Runner {
  readonly threads = 1;
  readonly threadReasons = ["a worker with a memory of its own computes alone"];
  readonly #kernels: Kernels;
  readonly #overrides: WorkerOverrides;
  #link: WorkerLink;
  #interrupted = false;
  #disposed = false;
  /** Residents that the present worker holds copies of. */
  #sent = new Set<number>();

  static async open(kernels: Kernels, overrides: WorkerOverrides): Promise<PrivateRunner> {
    return new PrivateRunner(kernels, overrides, await openPrivate(kernels, overrides));
  }

  private constructor(kernels: Kernels, overrides: WorkerOverrides, link: WorkerLink) {
    this.#kernels = kernels;
    this.#overrides = overrides;
    this.#link = link;
  }

  get lost(): WorkerLost | null {
    return this.#interrupted ? null : this.#link.lost;
  }

  async run(job: Job): Promise<Finished> {
    const block = this.#packed(job);
    if (this.#interrupted) await this.#reopen();
    const residents = this.#residentsOf(job);
    const outputs = outputsOf(job);
    const done = await this.#link.request(
      {
        kind: "block",
        block,
        bytes: job.bytes,
        relative: relativeWords(job),
        residents,
        outputs: outputs.map((part) => [part.offset, part.elements * Float32Array.BYTES_PER_ELEMENT]),
      },
      [block, ...residents.map(({ data }) => data).filter((data) => data !== null)],
    );
    throwOutcome(done);
    for (const { id } of residents) this.#sent.add(id);
    const arrays = new Map(
      outputs.map((part, index) => [part, new Float32Array(done.outputs[index] ?? new ArrayBuffer(0))]),
    );
    return { owned: true, view: (part) => arrays.get(part) ?? new Float32Array(0), release: () => {} };
  }

  /** Ends the worker in the middle of its job; the next job gets a new one. */
  interrupt(): void {
    this.#interrupted = true;
    this.#link.terminate("its call was aborted");
  }

  forget(resident: WasmResident): void {
    this.#sent.delete(resident.id);
    this.#link.tell({ kind: "forget", id: resident.id });
  }

  dispose(): void {
    this.#disposed = true;
    this.#link.terminate("the engine was disposed");
  }

  async #reopen(): Promise<void> {
    this.#sent = new Set();
    this.#link = await openPrivate(this.#kernels, this.#overrides);
    this.#interrupted = false;
    if (this.#disposed) this.#link.terminate("the engine was disposed");
  }

  #packed(job: Job): ArrayBuffer {
    try {
      const block = new ArrayBuffer(job.inputBytes);
      writeJob(job, new Uint8Array(block), 0);
      return block;
    } catch (cause) {
      throw new HeedError("memory", `attention: no room for a copy of ${job.inputBytes} bytes of inputs`, { cause });
    }
  }

  /** The residents of a job, with the data of those that the worker has not had yet. */
  #residentsOf(job: Job): BlockMessage["residents"] {
    const sent = new Set(this.#sent);
    return job.residents.map(({ word, resident: { id, address, bytes } }) => {
      const data = sent.has(id) ? null : new Uint8Array(this.#kernels.heap.bytes(address, bytes)).buffer;
      sent.add(id);
      return { word, id, data };
    });
  }
}

function openPrivate(kernels: Kernels, overrides: WorkerOverrides): Promise<WorkerLink> {
  return WorkerLink.open(overrides, { kind: "start", module: kernels.compiled, shared: null });
}

/** Nothing for a call that went well. A trap leaves the instance in doubt: its worker counts as lost. */
function throwOutcome({ status, message }: DoneMessage): void {
  if (status === TRAPPED) throw new WorkerLost(message);
  if (status === NO_ROOM) throw new HeedError("memory", "attention: the worker's memory has no room for the call");
  throwStatus(status, message);
}
