// The shards of one call, handed out to workers: each worker first takes those of its own affinity, then steals what it may.

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

  constructor(job: Job, shards: readonly Shard[]) {
    this.job = job;
    this.#left = [...shards];
    this.over = new Promise((resolve, reject) => {
      this.#settle = () => (this.#error === null ? resolve() : reject(this.#error));
    });
    this.#endIfOver();
  }

  next(worker: number, workers: number): Shard | undefined {
    let at = this.#left.findIndex(({ affinity }) => affinity % workers === worker);
    if (at === -1) at = this.#left.map(({ isHeld }) => isHeld).lastIndexOf(false);
    const shard = at === -1 ? undefined : this.#left.splice(at, 1)[0];
    if (shard !== undefined) this.#sent += 1;
    return shard;
  }

  get left(): number {
    return this.#left.length;
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

  #endIfOver(): void {
    if (this.#left.length === 0 && this.#sent === 0) this.#settle();
  }
}
