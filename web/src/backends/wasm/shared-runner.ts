// Workers on the front instance's memory, as a cross-origin isolated page has them: only an address crosses.

import type { Block } from "../../memory/arena.js";
import type { Job } from "./job.js";
import type { Finished, Kernels } from "./kernels.js";
import { TRAPPED } from "./protocol.js";
import { type Runner, throwOutcome } from "./runner.js";
import { WorkerLost, type WorkerOverrides } from "./worker-link.js";
import { WorkerPool } from "./worker-pool.js";

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

  /** They are all in the front instance's. */
  get memoryBytes(): number {
    return 0;
  }

  tasksDone(worker: number): number {
    return this.#kernels.tasksDone(worker) ?? 0;
  }

  async run(job: Job): Promise<Finished> {
    const block: Block = this.#kernels.place(job);
    this.#block = block;
    try {
      const done = await this.#pool.call(block.address);
      // The instance of a worker that trapped is in doubt.
      if (done.status === TRAPPED) throw new WorkerLost(done.message);
      throwOutcome(done);
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
