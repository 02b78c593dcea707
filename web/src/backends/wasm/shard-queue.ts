// The shards of one call, handed out to workers: each worker first takes those of its own affinity, then steals.

import type { CachedBuffer } from "./cached-buffers.js";
import type { Job } from "./job.js";
import type { Shard } from "./shards.js";

export class ShardQueue {
  readonly job: Job;
  /** Settles when every shard that was sent is answered and none is left to send. */
  readonly over: Promise<void>;
  #left: Shard[];
  #sent = 0;
  #error: unknown = null;
  #settle = (): void => {};
  readonly #workers: number;

  constructor(job: Job, shards: readonly Shard[], workers: number) {
    this.job = job;
    this.#left = [...shards];
    this.#workers = workers;
    this.over = new Promise((resolve, reject) => {
      this.#settle = () => (this.#error === null ? resolve() : reject(this.#error));
    });
    this.#endIfOver();
  }

  next(worker: number): Shard | undefined {
    const own = this.#left.findIndex(({ affinity }) => affinity % this.#workers === worker);
    const shard = own === -1 ? this.#left.pop() : this.#left.splice(own, 1)[0];
    if (shard !== undefined) this.#sent += 1;
    return shard;
  }

  /** Whether a shard that is not sent yet uses the buffer. */
  needs(buffer: CachedBuffer): boolean {
    return this.#left.some(({ buffers }) => buffers.some((part) => part.buffer === buffer));
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

  get isStopped(): boolean {
    return this.#error !== null;
  }

  #endIfOver(): void {
    if (this.#left.length === 0 && this.#sent === 0) this.#settle();
  }
}
