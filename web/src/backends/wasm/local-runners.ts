// Runs calls on the calling thread, either whole or in slices between which the page's event loop continues.

import { HeedError } from "../../api/errors.js";
import { nextTask } from "../../platform/next-task.js";
import type { Job } from "./job.js";
import type { Finished, Kernels } from "./kernels.js";
import type { Runner } from "./runner.js";
import { type Grain, sliceCall, slicesOf } from "./slices.js";

/** A slice takes about a millisecond. */
const GRAIN: Grain = { least: 2 ** 24, most: 2 ** 25, count: 1, upTo: Number.POSITIVE_INFINITY };

/** The longest task in the event loop. At 60 frames a second the page has 16 ms a frame for its own work and ours. */
const TASK_MS = 4;

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

  tasksDone(): number {
    return 0;
  }

  interrupt(): void {}
  forget(): void {}
  dispose(): void {}
}

/** Computes the whole call before `run` returns, as `offload: false` asks. */
export class BlockingRunner extends LocalRunner {
  async run(job: Job): Promise<Finished> {
    return this.kernels.compute(job);
  }
}

/** The fallback where no worker can be had: computes for some milliseconds at a time and yields to the event loop in between. */
export class SlicedRunner extends LocalRunner {
  readonly #grain: Grain;
  #isStopped = false;

  /** Tests give a `grain`. */
  constructor(kernels: Kernels, grain: Grain | null) {
    super(kernels);
    this.#grain = grain ?? GRAIN;
  }

  async run(job: Job, multiplications: number): Promise<Finished> {
    const slices = slicesOf(job, multiplications, this.#grain);
    if (slices.length === 1) return this.kernels.compute(job);
    this.#isStopped = false;
    const block = this.kernels.write(job);
    try {
      const whole = this.kernels.callIn(block, job);
      let end = performance.now() + TASK_MS;
      for (const slice of slices) {
        if (performance.now() >= end) {
          await nextTask();
          end = performance.now() + TASK_MS;
        }
        if (this.#isStopped) throw new HeedError("aborted", "attention: stopped by its caller");
        this.kernels.computeIn(block, sliceCall(whole, slice));
      }
    } catch (error) {
      this.kernels.arena.give(block);
      throw error;
    }
    return this.kernels.finished(block);
  }

  /** Takes effect before the next slice. */
  override interrupt(): void {
    this.#isStopped = true;
  }

  override dispose(): void {
    this.#isStopped = true;
  }
}
