// The shards of one call, handed out to workers: each worker first takes those of its own affinity, then steals what it may.

import type { CachedBuffer } from "./cached-buffers.js";
import type { Job } from "./job.js";
import type { Shard } from "./shards.js";
import type { WorkerLink } from "./worker-link.js";

export class ShardQueue {
  readonly job: Job;
  /** Settles when every shard that was sent is answered and none is left to send. */
  readonly over: Promise<void>;
  #left: Shard[];
  #sent = 0;
  #error: unknown = null;
  #settle = (): void => {};

  constructor(job: Job, shards: readonly Shard[]) {
    this.job = job;
    this.#left = [...shards];
    this.over = new Promise((resolve, reject) => {
      this.#settle = () => (this.#error === null ? resolve() : reject(this.#error));
    });
    this.#endIfOver();
  }

  next(worker: number, workers: number, link: WorkerLink): Shard | undefined {
    if (this.only !== undefined && this.only !== link) return undefined;
    // None of its own: the last one.
    const at = this.#left.findIndex(({ affinity }) => affinity % workers === worker);
    const [shard] = this.#left.splice(at, 1);
    if (shard !== undefined) this.#sent += 1;
    return shard;
  }

  /** The worker for which it waits; undefined: any. */
  get only(): WorkerLink | undefined {
    return this.#left[0]?.only;
  }

  get left(): number {
    return this.#left.length;
  }

  /** Whether a shard that is not sent yet uses the buffer. */
  needs(buffer: CachedBuffer): boolean {
    return this.#left.some(({ buffers }) => buffers.has(buffer));
  }

  answered(): void {
    this.#sent -= 1;
    this.#endIfOver();
  }

  /** Drops what is not sent yet; the call fails with the first error. */
  stop(error: unknown): void {
    this.#error ??= error;
    this.#left = [];
    this.#endIfOver();
  }

  #endIfOver(): void {
    if (this.#left.length === 0 && this.#sent === 0) this.#settle();
  }
}
