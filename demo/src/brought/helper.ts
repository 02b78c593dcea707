// The page's side of the worker that reads files and runs models. It starts with the first task, and is ended where one is stopped.

import { FileTrouble } from "./arrays.js";
import type { Tell } from "./run.js";
import type { OutcomeOf, Task, Told } from "./worker.js";

export class Helper {
  #worker: Worker | undefined;
  /** How often a worker ended, and took along what it held. */
  ends = 0;
  /** What tasks under way fail with, where the worker ends. */
  readonly #failing = new Set<(why: Error) => void>();

  /** Over a channel of its own. A task cannot be left halfway: aborting ends the worker, and with it what it holds of a model. */
  async do<T extends Task>(task: T, signal?: AbortSignal, tell: Tell = () => {}): Promise<OutcomeOf<T>> {
    signal?.throwIfAborted();
    signal?.addEventListener("abort", () => this.end(), { once: true });
    const { port1, port2 } = new MessageChannel();
    return await new Promise<OutcomeOf<T>>((settle, fail) => {
      this.#failing.add(fail);
      port1.onmessage = ({ data: told }: MessageEvent<Told<OutcomeOf<T>>>) => {
        if ("said" in told) return tell(told.said, told.done);
        this.#failing.delete(fail);
        port1.close();
        if ("outcome" in told) settle(told.outcome);
        else fail(told.isFile ? new FileTrouble(told.why) : new Error(told.why));
      };
      this.#worker ??= this.#open();
      this.#worker.postMessage(task, [port2]);
    });
  }

  #open(): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    // Out of memory, say.
    worker.addEventListener("error", ({ message }) => this.end(message || "the worker broke off"));
    return worker;
  }

  /** What it holds of a model is gone. The next task starts another worker. */
  end(why = "stopped"): void {
    this.#worker?.terminate();
    this.ends += 1;
    this.#worker = undefined;
    for (const fail of this.#failing) fail(new Error(why));
    this.#failing.clear();
  }
}
