// Where a worker on shared memory is handed calls, and where it says that one is done: no message crosses.

import { DONE } from "./done.js";
import { DOOR } from "./generated/attention-call.js";
import { type Kernels, throwStatus } from "./kernels.js";
import type { DoneMessage } from "./protocol.js";

/** Whether this realm can wait for a word without blocking. Where it cannot, the worker answers by message. */
export const WAITS_ASYNC = typeof Reflect.get(Atomics, "waitAsync") === "function";

type WaitAsync = (
  words: Int32Array,
  index: number,
  value: number,
) => { readonly async: boolean; readonly value: Promise<string> | string };

export class Door {
  readonly #kernels: Kernels;
  readonly #worker: number;
  readonly #address: number;

  constructor(kernels: Kernels, worker: number) {
    this.#kernels = kernels;
    this.#worker = worker;
    this.#address = kernels.doorOf(worker);
  }

  /** Hands a call in, to be computed by the workers below `workers`. The next may follow when it is done. */
  post(call: number, workers: number): void {
    this.#kernels.post(this.#worker, call, workers);
  }

  /** Resolves when the call that was posted is done; only where there is WAITS_ASYNC. */
  async done(): Promise<DoneMessage> {
    const words = this.#words();
    // Newer than the compiler's library.
    const waitAsync = Reflect.get(Atomics, "waitAsync") as WaitAsync;
    for (let state = Atomics.load(words, DOOR.state); state !== 0; state = Atomics.load(words, DOOR.state)) {
      await waitAsync(words, DOOR.state, state).value;
    }
    return DONE;
  }

  /** Throws what became of the call that was done last, unless that went well. */
  throwOutcome(): void {
    const status = this.#words()[DOOR.status] ?? 0;
    const { heap } = this.#kernels;
    if (status !== 0) throwStatus(status, heap.text(this.#address + DOOR.message * Int32Array.BYTES_PER_ELEMENT));
  }

  #words(): Int32Array {
    return this.#kernels.heap.words(this.#address, DOOR.words);
  }
}
