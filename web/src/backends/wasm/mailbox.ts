// The mailbox of a worker on shared memory: calls are posted to it and awaited there, without messages.

import { DONE } from "./done.js";
import { MAILBOX } from "./generated/attention-call.js";
import { type Kernels, throwStatus } from "./kernels.js";
import type { DoneMessage } from "./protocol.js";

/** Whether this realm has Atomics.waitAsync. Where it has not, the worker answers by message. */
export const WAITS_ASYNC = typeof Reflect.get(Atomics, "waitAsync") === "function";

type WaitAsync = (
  words: Int32Array,
  index: number,
  value: number,
) => { readonly async: boolean; readonly value: Promise<string> | string };

export class Mailbox {
  readonly #kernels: Kernels;
  readonly #worker: number;
  readonly #address: number;

  constructor(kernels: Kernels, worker: number) {
    this.#kernels = kernels;
    this.#worker = worker;
    this.#address = kernels.mailboxOf(worker);
  }

  /** Posts a call for the workers below `workers` to compute. The mailbox holds one call at a time. */
  post(call: number, workers: number): void {
    this.#kernels.post(this.#worker, call, workers);
  }

  /** Resolves when the posted call is done. Needs WAITS_ASYNC. */
  async done(): Promise<DoneMessage> {
    const words = this.#words();
    // TypeScript's library does not declare it yet.
    const waitAsync = Reflect.get(Atomics, "waitAsync") as WaitAsync;
    for (let state = Atomics.load(words, MAILBOX.state); state !== 0; state = Atomics.load(words, MAILBOX.state)) {
      await waitAsync(words, MAILBOX.state, state).value;
    }
    return DONE;
  }

  /** The worker is gone. A wait that nobody ends keeps the memory for as long as the page lives. */
  abandon(): void {
    const words = this.#words();
    Atomics.store(words, MAILBOX.state, 0);
    Atomics.notify(words, MAILBOX.state);
  }

  /** Throws the error of the last call, if it failed. */
  throwOutcome(): void {
    const status = this.#words()[MAILBOX.status] ?? 0;
    const { heap } = this.#kernels;
    if (status !== 0) throwStatus(status, heap.text(this.#address + MAILBOX.message * Int32Array.BYTES_PER_ELEMENT));
  }

  #words(): Int32Array {
    return this.#kernels.heap.words(this.#address, MAILBOX.words);
  }
}
