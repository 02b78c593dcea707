// The words on shared memory by which the leading worker is handed calls, and by which it says that one is done: no message crosses.

import { DONE, DOOR } from "./door-words.js";
import type { Kernels } from "./kernels.js";
import type { DoneMessage } from "./protocol.js";

/** Whether this realm can wait for a word without blocking. Where it cannot, the worker answers by message. */
export const WAITS_ASYNC = typeof Reflect.get(Atomics, "waitAsync") === "function";

type WaitAsync = (
  words: Int32Array,
  index: number,
  value: number,
) => { readonly async: boolean; readonly value: Promise<string> | string };

export class Door {
  /** In the front instance's heap. */
  readonly address: number;
  readonly #kernels: Kernels;

  constructor(kernels: Kernels) {
    this.#kernels = kernels;
    this.address = kernels.zeros(DOOR.words * Int32Array.BYTES_PER_ELEMENT);
  }

  /** Hands a call in. The next may follow when it is done. */
  post(call: number, workers: number): void {
    const words = this.#words();
    words[DOOR.call] = call;
    words[DOOR.workers] = workers;
    Atomics.store(words, DOOR.state, DOOR.posted);
    Atomics.notify(words, DOOR.state);
  }

  /** Resolves when the call that was posted is done; only where there is WAITS_ASYNC. */
  async done(): Promise<DoneMessage> {
    const words = this.#words();
    // Newer than the compiler's library.
    const waitAsync = Reflect.get(Atomics, "waitAsync") as WaitAsync;
    while (Atomics.load(words, DOOR.state) === DOOR.posted) await waitAsync(words, DOOR.state, DOOR.posted).value;
    return DONE;
  }

  /** Of the call that was done last. */
  get status(): number {
    return this.#words()[DOOR.status] ?? 0;
  }

  #words(): Int32Array {
    return this.#kernels.heap.words(this.address, DOOR.words);
  }
}
