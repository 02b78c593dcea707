// Runs calls on the calling thread, either whole or in slices between which the page's event loop continues.

import { HeedError } from "../../base/errors.js";
import { nextTask, TASK_MS } from "../../platform/next-task.js";
import type { Job } from "./job.js";
import type { Finished, Kernels } from "./kernels.js";
import type { Runner } from "./runner.js";
import { type Grain, sliceCall, slicesOf } from "./slices.js";

/** A slice takes about a millisecond. */
const GRAIN: Grain = { least: 2 ** 24, most: 2 ** 25, count: 1, upTo: Number.POSITIVE_INFINITY };

abstract class LocalRunner implements Runner {
  readonly lost = null;
  readonly threads = 1;
  readonly calls = 1;
  readonly threadReasons = ["the calling thread computes alone"];
  readonly memoryBytes = 0;
  protected readonly kernels: Kernels;

  constructor(kernels: Kernels) {
    this.kernels = kernels;
  }

  abstract run(job: Job, multiplications: number): Promise<Finished>;

  interrupt(_job: Job): void {}
  forget(): void {}
  dispose(): void {}
}

/** Computes the whole call before `run` returns, as `offload: false` asks. */
export class BlockingRunner extends LocalRunner {
  async run(job: Job): Promise<Finished> {
    return this.kernels.compute(job);
  }
}

/** Computes for some milliseconds at a time and yields to the event loop in between: where no worker can be had, and for calls that are too cheap for workers. */
export class SlicedRunner extends LocalRunner {
  readonly #grain: Grain;
  readonly #running = new Set<Job>();
  /** When the current task of the event loop should end; 0 in a new one. */
  #end = 0;
  /** Milliseconds of the last slice. */
  #took = 0;

  /** Tests give a `grain`. */
  constructor(kernels: Kernels, grain: Grain | null) {
    super(kernels);
    this.#grain = grain ?? GRAIN;
  }

  async run(job: Job, multiplications: number): Promise<Finished> {
    const cut = job.cut(0, this.#grain.most);
    const slices = slicesOf(cut, multiplications * (cut.memoryBound ?? 1), this.#grain);
    const block = this.kernels.write(job);
    this.#running.add(job);
    try {
      const whole = this.kernels.callIn(block, job);
      for (const slice of slices) {
        await this.#breathe();
        const start = performance.now();
        if (!this.#running.has(job)) throw new HeedError("aborted", `${job.operation}: stopped by its caller`);
        this.kernels.computeIn(block, slices.length > 1 ? sliceCall(job, cut, whole, slice) : whole, job.operation);
        this.#took = performance.now() - start;
      }
    } catch (error) {
      this.kernels.arena.give(block);
      throw error;
    } finally {
      this.#running.delete(job);
    }
    return this.kernels.finished(block);
  }

  /** Takes effect before the next slice. */
  override interrupt(job: Job): void {
    this.#running.delete(job);
  }

  override dispose(): void {
    this.#running.clear();
  }

  /** Goes on in a new task where the current one has computed something. */
  async rest(): Promise<void> {
    while (this.#end > 0) await nextTask();
  }

  /** Goes on in a new task where the current one, whichever calls it computed, would last long with another slice. */
  async #breathe(): Promise<void> {
    while (this.#end > 0 && performance.now() + this.#took >= this.#end) await nextTask();
    if (this.#end > 0) return;
    this.#end = performance.now() + TASK_MS;
    void nextTask().then(() => {
      this.#end = 0;
    });
  }
}
