// Runs calls on workers that share the front instance's memory, as a cross-origin isolated page can: only an address is passed.

import type { Block } from "../../memory/arena.js";
import type { Job } from "./job.js";
import type { Finished, Kernels } from "./kernels.js";
import { ResultArrays } from "./result-arrays.js";
import type { Runner } from "./runner.js";
import { WorkerLost, type WorkerSource } from "./worker-link.js";
import { type PoolOverrides, WorkerPool } from "./worker-pool.js";

export class SharedRunner implements Runner {
  readonly #kernels: Kernels;
  readonly #pool: WorkerPool;
  /** The blocks of the running calls. */
  readonly #blocks = new Map<Job, Block>();

  static async open(kernels: Kernels, workers: WorkerSource, overrides: PoolOverrides): Promise<SharedRunner> {
    return new SharedRunner(kernels, await WorkerPool.open(kernels, workers, overrides));
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

  get calls(): number {
    return this.#pool.threads;
  }

  get threadReasons(): readonly string[] {
    return this.#pool.missing;
  }

  /** All memory is the front instance's. */
  get memoryBytes(): number {
    return 0;
  }

  async run(job: Job): Promise<Finished> {
    const block = this.#kernels.write(job);
    this.#blocks.set(job, block);
    const call = this.#pool.call(block.address, job.operation);
    const arrays = new ResultArrays(job);
    try {
      await call;
    } catch (error) {
      if (error instanceof WorkerLost) this.#kernels.abandon();
      this.#kernels.arena.give(block);
      throw error;
    } finally {
      arrays.end();
      this.#blocks.delete(job);
    }
    return this.#kernels.finished(block, arrays);
  }

  /** Asks the workers to stop after their current task. They are not terminated, because one could hold the allocator's lock. */
  interrupt(job: Job): void {
    const block = this.#blocks.get(job);
    if (block !== undefined) this.#kernels.stop(block);
  }

  forget(): void {}

  dispose(): void {
    this.#pool.dispose();
  }
}
