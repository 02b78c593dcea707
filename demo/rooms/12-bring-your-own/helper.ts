// The page's side of the worker that reads files and runs models. It starts with the first task, and is ended where one is stopped.

import { FileTrouble } from "./arrays.js";
import type { Piece } from "./model/pieces.js";
import type { Model } from "./model/recognise.js";
import type { Pass } from "./model/run.js";
import type { Asked, Task, Told } from "./worker.js";

interface Waiting {
  readonly settle: (outcome: Piece | Pass) => void;
  readonly fail: (error: Error) => void;
  readonly say: (text: string) => void;
}

export class Helper {
  #worker: Worker | undefined;
  #asked = 0;
  readonly #waiting = new Map<number, Waiting>();

  async read(file: File): Promise<Piece> {
    const outcome = await this.#ask({ kind: "read", file }, () => {});
    if ("kind" in outcome) return outcome;
    throw new TypeError("a piece was asked for");
  }

  /** A pass cannot be left halfway: aborting ends the worker, and with it what it holds of the model. */
  async run(model: Model, asked: string, signal: AbortSignal, say: (text: string) => void): Promise<Pass> {
    signal.addEventListener("abort", () => this.#end(new Error("stopped")), { once: true });
    const outcome = await this.#ask({ kind: "run", model, asked }, say);
    if ("weights" in outcome) return outcome;
    throw new TypeError("a pass was asked for");
  }

  #ask(task: Task, say: (text: string) => void): Promise<Piece | Pass> {
    const worker = this.#open();
    return new Promise((settle, fail) => {
      const id = ++this.#asked;
      this.#waiting.set(id, { settle, fail, say });
      const asked: Asked = { id, task };
      worker.postMessage(asked);
    });
  }

  #open(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<Told>) => this.#hear(data));
    // Out of memory, say.
    worker.addEventListener("error", ({ message }) => this.#end(new Error(message || "the worker broke off")));
    this.#worker = worker;
    return worker;
  }

  #hear(told: Told): void {
    const waiting = this.#waiting.get(told.id);
    if (told.kind === "said") {
      waiting?.say(told.text);
      return;
    }
    this.#waiting.delete(told.id);
    if (told.kind === "done") waiting?.settle(told.outcome);
    else waiting?.fail(told.isFile ? new FileTrouble(told.message) : new Error(told.message));
  }

  #end(why: Error): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const { fail } of this.#waiting.values()) fail(why);
    this.#waiting.clear();
  }
}
