// Workers on the front instance's memory: each is handed calls to lead, and helps the others by itself, inside the kernels.

import { causeText, HeedError } from "../../api/errors.js";
import { Door, WAITS_ASYNC } from "./door.js";
import { MAX_WORKERS } from "./generated/attention-call.js";
import type { Kernels } from "./kernels.js";
import type { WorkerLink, WorkerLost, WorkerSource } from "./worker-link.js";

/** The kernels keep their arrays in the heap; this is for frames and tiles of a few KiB. */
const STACK_BYTES = 128 * 1024;

/** The worker without which there is no pool: whatever there is one call of is led by it. */
const LEAD = 0;

export interface PoolOverrides {
  readonly threads: number;
  /** Of the machine. */
  readonly cores: number;
}

/** A worker of the pool, and whether it leads a call. */
interface Member {
  readonly link: WorkerLink;
  readonly door: Door;
  leads: boolean;
}

export class WorkerPool {
  readonly #kernels: Kernels;
  /** By their numbers; those of lost workers stay empty. */
  readonly #members = new Map<number, Member>();
  readonly #missing: string[] = [];
  #losses = 0;
  #lost: WorkerLost | null = null;
  #disposed = false;

  /** Rejects with WorkerLost when not even one worker starts to lead; helpers that do not start are done without. */
  static async open(kernels: Kernels, workers: WorkerSource, overrides: PoolOverrides): Promise<WorkerPool> {
    const { threads } = overrides;
    const pool = new WorkerPool(kernels);
    if (threads > MAX_WORKERS) pool.#missing.push(`a pool has at most ${MAX_WORKERS} workers`);
    const length = Math.min(threads, MAX_WORKERS);
    const opening = Array.from({ length }, (_, worker) => pool.#open(worker, workers, overrides));
    const [lead] = await Promise.allSettled(opening);
    if (lead?.status === "fulfilled" && pool.#lost === null) return pool;
    pool.dispose();
    throw lead?.status === "rejected" ? lead.reason : pool.#lost;
  }

  private constructor(kernels: Kernels) {
    this.#kernels = kernels;
  }

  /** Why it can run no call any more; null while it can. */
  get lost(): WorkerLost | null {
    return this.#lost;
  }

  /** As many calls may be under way. */
  get threads(): number {
    return this.#members.size;
  }

  /** What became of the helpers that are not there. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  /**
   * Computes the call at this address. Rejects with HeedError where C++ says so, with WorkerLost when the pool is gone, with HeedError
   * `device-lost` when it goes on with a helper less.
   */
  async call(address: number, operation: string): Promise<void> {
    const member = this.#free();
    const { link, door } = member;
    const losses = this.#losses;
    member.leads = true;
    door.post(address, Math.max(...this.#members.keys()) + 1);
    try {
      await (WAITS_ASYNC ? link.during(door.done()) : link.answer());
      if (this.#losses === losses) return door.throwOutcome();
    } finally {
      member.leads = false;
    }
    throw new HeedError("device-lost", `${operation}: a worker that computed it is lost: ${this.#missing.at(-1)}`);
  }

  dispose(): void {
    this.#disposed = true;
    for (const { link } of this.#members.values()) link.terminate("the engine was disposed");
  }

  /** The worker of the lowest number that leads no call. */
  #free(): Member {
    for (let worker = LEAD; worker < MAX_WORKERS; worker++) {
      const member = this.#members.get(worker);
      if (member?.leads === false) return member;
    }
    throw new Error("the pool was asked for more calls than it has workers");
  }

  async #open(worker: number, workers: WorkerSource, overrides: PoolOverrides): Promise<void> {
    try {
      const stackTop = this.#kernels.allocate(STACK_BYTES) + STACK_BYTES;
      const looks = overrides.threads < overrides.cores;
      const shared = { memory: this.#kernels.memory, stackTop, worker, looks, answers: !WAITS_ASYNC };
      const start = { kind: "start", module: this.#kernels.compiled, shared } as const;
      const link = workers.take();
      await link.start(start, (lost) => this.#lose(worker, lost));
      this.#members.set(worker, { link, door: new Door(this.#kernels, worker), leads: false });
      if (link.lost !== null) this.#lose(worker, link.lost);
    } catch (error) {
      if (worker === LEAD) throw error;
      this.#missing.push(`helper ${worker} did not start (${causeText(error)})`);
    }
  }

  /** A helper may be lost with a task in hand, for which the worker that leads would wait for ever; one that leads, with the allocator's lock. */
  #lose(worker: number, lost: WorkerLost): void {
    const member = this.#members.get(worker);
    if (!this.#members.delete(worker) || this.#disposed || this.#lost !== null) return;
    if (worker === LEAD || member?.leads === true) {
      this.#lost = lost;
      for (const { link } of this.#members.values()) link.terminate(lost.message);
      return;
    }
    this.#missing.push(`helper ${worker} was lost (${lost.message})`);
    this.#losses += 1;
    this.#kernels.lose(worker);
  }
}
