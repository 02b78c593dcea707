// The calls of a program where no list can be handed on: each call is computed when the one before it is done.

import { nextTask, TASK_MS } from "../../platform/next-task.js";
import type { Calls, Compute } from "./calls.js";
import { type Job, snapshot } from "./job.js";
import type { WasmResident } from "./resident.js";
import type { Runner } from "./runner.js";

interface Step {
  readonly isCall: boolean;
  readonly act: () => Promise<void> | void;
}

export class CallChain implements Calls {
  readonly #runner: Runner;
  readonly #compute: Compute;
  #waiting: Step[] = [];
  #running: Promise<void> | null = null;

  constructor(runner: Runner, compute: Compute) {
    this.#runner = runner;
    this.#compute = compute;
  }

  add(job: Job, multiplications: number): void {
    // What computes the copy takes its results out of it.
    const copy = { ...snapshot(job), made: new Map(job.made) };
    this.#push({ isCall: true, act: () => this.#compute(copy, multiplications) });
  }

  forget(resident: WasmResident): void {
    this.#push({ isCall: false, act: () => this.#runner.forget(resident) });
  }

  async settled(): Promise<void> {
    await this.#running;
  }

  /** Calls are dropped. What workers hold of freed residents is still forgotten. */
  stop(): void {
    this.#waiting = this.#waiting.filter(({ isCall }) => !isCall);
  }

  dispose(): void {}

  #push(step: Step): void {
    this.#waiting.push(step);
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    let until = performance.now() + TASK_MS;
    for (let step = this.#waiting.shift(); step !== undefined; step = this.#waiting.shift()) {
      await step.act();
      if (performance.now() < until) continue;
      // Many small calls would be computed in one task otherwise.
      await nextTask();
      until = performance.now() + TASK_MS;
    }
    this.#running = null;
  }
}
