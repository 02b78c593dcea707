// Calls on the calling thread: at once, or in slices between which the page goes on.

import { HeedError } from "../../api/errors.js";
import { nextTurn } from "../../platform/turn.js";
import type { Job } from "./job.js";
import type { Finished, Kernels } from "./kernels.js";
import type { Runner } from "./runner.js";
import { type Grain, sliceCall, slicesOf } from "./slices.js";

/** Slices of about a millisecond. */
const GRAIN: Grain = { least: 2 ** 24, most: 2 ** 25, count: 1, upTo: Number.POSITIVE_INFINITY };

/** A page that is to show 60 frames a second has 16 ms for each, its own work included. */
const TURN_MS = 4;

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

/** For who asked for it: a call is over when the function returns that made it. */
export class BlockingRunner extends LocalRunner {
  async run(job: Job): Promise<Finished> {
    return this.kernels.compute(job);
  }
}

/** Where there is no worker to be had: computes for some milliseconds, and lets the page have a turn. */
export class SlicedRunner extends LocalRunner {
  readonly #grain: Grain;
  #isStopped = false;

  /** `grain` is for tests. */
  constructor(kernels: Kernels, grain: Grain | null) {
    super(kernels);
    this.#grain = grain ?? GRAIN;
  }

  async run(job: Job, multiplications: number): Promise<Finished> {
    const slices = slicesOf(job, multiplications, this.#grain);
    if (slices.length === 1) return this.kernels.compute(job);
    this.#isStopped = false;
    const block = this.kernels.place(job);
    try {
      const whole = this.kernels.callIn(block, job);
      let end = performance.now() + TURN_MS;
      for (const slice of slices) {
        if (performance.now() >= end) {
          await nextTurn();
          end = performance.now() + TURN_MS;
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

  /** Takes effect when its turn is next. */
  override interrupt(): void {
    this.#isStopped = true;
  }

  override dispose(): void {
    this.#isStopped = true;
  }
}
