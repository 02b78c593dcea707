// Workers on the front instance's memory: one is handed the calls, the others help it, by themselves, inside the kernels.

import { causeText, HeedError } from "../../api/errors.js";
import { Door, WAITS_ASYNC } from "./door.js";
import { MAX_WORKERS } from "./generated/attention-call.js";
import type { Kernels } from "./kernels.js";
import type { WorkerLink, WorkerLost, WorkerSource } from "./worker-link.js";

/** The kernels keep their arrays in the heap; this is for frames and tiles of a few KiB. */
const STACK_BYTES = 128 * 1024;

/** The worker that leads; helpers have the numbers from 1 on. */
const LEAD = 0;

export interface PoolOverrides {
  readonly threads: number;
  /** Of the machine. */
  readonly cores: number;
}

export class WorkerPool {
  readonly #kernels: Kernels;
  readonly #door: Door;
  readonly #links = new Map<number, WorkerLink>();
  readonly #missing: string[] = [];
  #lead: WorkerLink | null = null;
  #losses = 0;
  #disposed = false;

  /** Rejects with WorkerLost when not even one worker starts to lead; helpers that do not start are done without. */
  static async open(kernels: Kernels, workers: WorkerSource, overrides: PoolOverrides): Promise<WorkerPool> {
    const { threads } = overrides;
    const pool = new WorkerPool(kernels);
    if (threads > MAX_WORKERS) pool.#missing.push(`a pool has at most ${MAX_WORKERS} workers`);
    const length = Math.min(threads, MAX_WORKERS);
    const opening = Array.from({ length }, (_, worker) => pool.#open(worker, workers, overrides));
    const [lead] = await Promise.allSettled(opening);
    if (lead?.status === "fulfilled" && pool.#lead?.lost === null) return pool;
    pool.dispose();
    throw lead?.status === "rejected" ? lead.reason : pool.#lead?.lost;
  }

  private constructor(kernels: Kernels) {
    this.#kernels = kernels;
    this.#door = new Door(kernels);
  }

  /** Why it can run no call any more; null while it can. */
  get lost(): WorkerLost | null {
    return this.#lead?.lost ?? null;
  }

  get threads(): number {
    return this.#links.size;
  }

  /** What became of the helpers that are not there. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  /**
   * Computes the call at this address, and resolves to its status; the next may be made when it is over. Rejects with WorkerLost
   * when the pool is gone, with HeedError `device-lost` when it goes on with a helper less.
   */
  async call(address: number, operation: string): Promise<number> {
    const lead = this.#lead;
    if (lead === null) throw new Error("the pool is not open yet");
    const losses = this.#losses;
    // The numbers of lost helpers stay empty.
    this.#door.post(address, Math.max(...this.#links.keys()) + 1);
    await (WAITS_ASYNC ? lead.during(this.#door.done()) : lead.answer());
    if (this.#losses === losses) return this.#door.status;
    throw new HeedError("device-lost", `${operation}: a worker that computed it is lost: ${this.#missing.at(-1)}`);
  }

  dispose(): void {
    this.#disposed = true;
    for (const link of this.#links.values()) link.terminate("the engine was disposed");
  }

  async #open(worker: number, workers: WorkerSource, overrides: PoolOverrides): Promise<void> {
    try {
      const stackTop = this.#kernels.allocate(STACK_BYTES) + STACK_BYTES;
      const door = this.#door.address;
      const looks = overrides.threads < overrides.cores;
      const shared = { memory: this.#kernels.memory, stackTop, worker, door, looks, answers: !WAITS_ASYNC };
      const start = { kind: "start", module: this.#kernels.compiled, shared } as const;
      const link = workers.take();
      await link.start(start, (lost) => this.#lose(worker, lost));
      this.#links.set(worker, link);
      if (worker === LEAD) this.#lead = link;
      if (link.lost !== null) this.#lose(worker, link.lost);
    } catch (error) {
      if (worker === LEAD) throw error;
      this.#missing.push(`helper ${worker} did not start (${causeText(error)})`);
    }
  }

  /** A helper may be lost with a task in hand, for which the leading worker would wait for ever. */
  #lose(worker: number, lost: WorkerLost): void {
    if (!this.#links.delete(worker) || this.#disposed || worker === LEAD) return;
    this.#missing.push(`helper ${worker} was lost (${lost.message})`);
    this.#losses += 1;
    this.#kernels.lose(worker);
  }
}
