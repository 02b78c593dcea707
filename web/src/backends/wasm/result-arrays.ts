// The arrays into which results are copied out of the heap.

import { copied } from "../../memory/heap-view.js";
import { nextTask } from "../../platform/next-task.js";
import type { Job, OutputPart } from "./job.js";

/** Elements in a page of the operating system's. */
const PAGE = 4096 / Float32Array.BYTES_PER_ELEMENT;

/** Touching this many takes about a millisecond, after which the event loop gets to run. */
const PAGES_PER_TASK = 512;

/**
 * Made while workers compute. The operating system maps the pages of a new array when they are first written, which takes longer
 * than the copy. So this thread, which has nothing else to do, writes to each page before the results arrive.
 */
export class ResultArrays {
  readonly #arrays = new Map<OutputPart, Float32Array>();
  #isOver = false;

  /** Does not throw when memory is short: `fill` then makes the missing arrays, and throws if it cannot. */
  constructor(job: Job) {
    try {
      for (const part of job.outputs) if (part.to === "array") this.#arrays.set(part, new Float32Array(part.elements));
    } catch {
      this.#arrays.clear();
    }
    void this.#touchPages();
  }

  /** Copies a result into its array, which the caller then owns. */
  fill(part: OutputPart, view: Float32Array): Float32Array {
    return copied(view, this.#arrays.get(part));
  }

  /** Stops touching pages. Must be called before `fill`. */
  end(): void {
    this.#isOver = true;
  }

  async #touchPages(): Promise<void> {
    let left = PAGES_PER_TASK;
    for (const array of this.#arrays.values()) {
      for (let i = 0; i < array.length; i += PAGE) {
        array[i] = 0;
        if (--left > 0) continue;
        await nextTask();
        if (this.#isOver) return;
        left = PAGES_PER_TASK;
      }
    }
  }
}
