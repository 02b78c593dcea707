// Workers on the front instance's memory. A call is posted to one of them, which leads it; inside the kernels idle workers take
// tasks of the calls that others lead.

import { causeText, HeedError } from "../../base/errors.js";
import { MAX_WORKERS } from "./generated/attention-call.js";
import type { Kernels } from "./kernels.js";
import { Mailbox, WAITS_ASYNC } from "./mailbox.js";
import type { WorkerLink, WorkerLost, WorkerSource } from "./worker-link.js";

/** Stack frames and tiles of a few KiB; the kernels keep larger arrays on the heap. */
const STACK_BYTES = 128 * 1024;

/** The worker that leads when there is only one call. Without it there is no pool. */
const LEAD = 0;

export interface PoolOverrides {
  readonly threads: number;
  /** The machine's. */
  readonly cores: number;
}

/** A worker of the pool, and whether it leads a call. */
interface Member {
  readonly link: WorkerLink;
  readonly mailbox: Mailbox;
  leads: boolean;
}

export class WorkerPool {
  readonly #kernels: Kernels;
  /** By index; the index of a lost worker stays empty. */
  readonly #members = new Map<number, Member>();
  readonly #missing: string[] = [];
  #losses = 0;
  #lost: WorkerLost | null = null;
  #disposed = false;

  /** Rejects with WorkerLost when the leading worker does not start. The pool can do without any other. */
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

  /** Also the number of calls that can run at a time. */
  get threads(): number {
    return this.#members.size;
  }

  /** Why there are fewer workers than were asked for. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  /**
   * Computes the call at this address. Rejects with the HeedError that C++ reported, with WorkerLost when the pool is gone, and with
   * HeedError `device-lost` when a helper was lost and the pool continues without it.
   */
  async call(address: number, operation: string): Promise<void> {
    const member = this.#free();
    const { link, mailbox } = member;
    const losses = this.#losses;
    member.leads = true;
    mailbox.post(address, Math.max(...this.#members.keys()) + 1);
    try {
      await (WAITS_ASYNC ? link.during(mailbox.done()) : link.answer());
      if (this.#losses === losses) return mailbox.throwOutcome();
    } finally {
      member.leads = false;
    }
    throw new HeedError("device-lost", `${operation}: a worker that computed it is lost: ${this.#missing.at(-1)}`);
  }

  dispose(): void {
    this.#disposed = true;
    this.#end("the engine was disposed");
  }

  #end(reason: string): void {
    for (const { link, mailbox } of this.#members.values()) {
      link.terminate(reason);
      mailbox.abandon();
    }
  }

  /** The first worker that leads no call. */
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
      const spins = overrides.threads < overrides.cores;
      const shared = { memory: this.#kernels.memory, stackTop, worker, spins, answers: !WAITS_ASYNC };
      const start = { kind: "start", module: this.#kernels.compiled, shared } as const;
      const link = workers.take();
      await link.start(start, (lost) => this.#lose(worker, lost));
      this.#members.set(worker, { link, mailbox: new Mailbox(this.#kernels, worker), leads: false });
      if (link.lost !== null) this.#lose(worker, link.lost);
    } catch (error) {
      if (worker === LEAD) throw error;
      this.#missing.push(`helper ${worker} did not start (${causeText(error)})`);
    }
  }

  /** The leading worker must not wait for the task of a lost helper. A lost leader may hold the allocator's lock, so the whole pool ends with it. */
  #lose(worker: number, lost: WorkerLost): void {
    const member = this.#members.get(worker);
    if (!this.#members.delete(worker) || this.#disposed || this.#lost !== null) return;
    if (worker === LEAD || member?.leads === true) {
      this.#lost = lost;
      member?.mailbox.abandon();
      this.#end(lost.message);
      return;
    }
    this.#missing.push(`helper ${worker} was lost (${lost.message})`);
    this.#losses += 1;
    this.#kernels.lose(worker);
  }
}
