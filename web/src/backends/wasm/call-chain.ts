// The calls of a program where the calling thread computes: each call when the one before it is done.

import { nextTask, TASK_MS } from "../../platform/next-task.js";
import type { Calls, Compute } from "./calls.js";
import { type Job, snapshot } from "./job.js";

export class CallChain implements Calls {
  readonly #compute: Compute;
  #waiting: (readonly [job: Job, multiplications: number])[] = [];
  #running: Promise<void> | null = null;

  constructor(compute: Compute) {
    this.#compute = compute;
  }

  add(job: Job, multiplications: number): void {
    // What computes the copy takes its results out of it.
    this.#waiting.push([{ ...snapshot(job), made: new Map(job.made) }, multiplications]);
    this.#running ??= this.#run();
  }

  async settled(): Promise<void> {
    await this.#running;
  }

  stop(): void {
    this.#waiting = [];
  }

  dispose(): void {}

  async #run(): Promise<void> {
    let until = performance.now() + TASK_MS;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#compute(...next);
      if (performance.now() < until) continue;
      // Many small calls would be computed in one task otherwise.
      await nextTask();
      until = performance.now() + TASK_MS;
    }
    this.#running = null;
  }
}
