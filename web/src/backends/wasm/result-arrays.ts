// Arrays for results that leave the heap.

import { copied } from "../../memory/heap-view.js";
import { nextTurn } from "../../platform/turn.js";
import type { Job, OutputPart } from "./job.js";

const PAGE = 4096 / Float32Array.BYTES_PER_ELEMENT;

/** As many pages take about a millisecond: the page that waits for results has a turn in between. */
const PAGES_A_TURN = 512;

/**
 * Made while workers compute. A system gives a new array its pages when they are first written, which takes longer than copying
 * into them: so that is done here, until the results are there.
 */
export class ResultArrays {
  readonly #arrays = new Map<OutputPart, Float32Array>();
  #isOver = false;

  /** Throws nothing: who has no array yet gets one, or hears why not, when there is something to fill it with. */
  constructor(job: Job) {
    try {
      for (const part of job.outputs) if (part.leaves) this.#arrays.set(part, new Float32Array(part.elements));
    } catch {
      this.#arrays.clear();
    }
    void this.#takePages();
  }

  /** Copies a result into its array, which is the caller's from now on. */
  fill(part: OutputPart, view: Float32Array): Float32Array {
    return copied(view, this.#arrays.get(part));
  }

  /** To be called before any is filled. */
  end(): void {
    this.#isOver = true;
  }

  async #takePages(): Promise<void> {
    let left = PAGES_A_TURN;
    for (const array of this.#arrays.values()) {
      for (let i = 0; i < array.length; i += PAGE) {
        array[i] = 0;
        if (--left > 0) continue;
        await nextTurn();
        if (this.#isOver) return;
        left = PAGES_A_TURN;
      }
    }
  }
}
