// Calls that a worker gets many at a time: those recorded while it computes a batch are the next ones.

import type { Calls, Compute } from "./calls.js";
import { isSmall } from "./cost.js";
import type { Job } from "./job.js";

/** The most multiplications in a batch, unless a single call has more: calls of others wait until a batch is done. */
const MOST_WORK = 2 ** 30;

/** Calls, and what they cost together. */
export class Batch {
  count = 0;
  work = 0;

  get isSmall(): boolean {
    return isSmall(this.work, 0);
  }

  hasRoomFor(multiplications: number, most: number): boolean {
    return this.count === 0 || (this.count < most && this.work + multiplications <= MOST_WORK);
  }

  add(multiplications: number): void {
    this.count += 1;
    this.work += multiplications;
  }
}

export abstract class BatchedCalls<B extends Batch> implements Calls {
  readonly #compute: Compute;
  /** The most calls in a batch. */
  readonly #most: number;
  protected waiting: B[] = [];
  protected running: Promise<void> | null = null;

  constructor(compute: Compute, most: number) {
    this.#compute = compute;
    this.#most = most;
  }

  abstract add(job: Job, multiplications: number): void;
  abstract dispose(): void;

  protected abstract empty(): B;

  /** The batch as one call. */
  protected abstract jobOf(batch: B): Job;

  async settled(): Promise<void> {
    for (let [batch] = this.waiting; this.running !== null || batch !== undefined; [batch] = this.waiting) {
      if (this.running === null && batch !== undefined) this.#start(batch);
      await this.running;
    }
  }

  stop(): void {
    this.waiting = [];
  }

  /** The batch that takes a call of so many multiplications, which is the last. */
  protected batchFor(multiplications: number): B {
    const last = this.waiting.at(-1);
    if (last?.hasRoomFor(multiplications, this.#most) === true) return last;
    const batch = this.empty();
    this.waiting.push(batch);
    return batch;
  }

  /** Hands the first batch on, unless it is small. */
  protected handOn(): void {
    const [batch] = this.waiting;
    if (this.running === null && batch?.isSmall === false) this.#start(batch);
  }

  #start(batch: B): void {
    this.waiting.shift();
    this.running = this.#run(this.jobOf(batch), batch.work);
  }

  async #run(job: Job, multiplications: number): Promise<void> {
    await this.#compute(job, multiplications);
    this.running = null;
    this.handOn();
  }
}
