// Things that are begun in order of arrival, some of them at a time; each can be aborted, waiting or running.

import { causeText, HeedError } from "../../api/errors.js";

/** Set when nobody waits for the result any more. */
export interface Ticket {
  cancelled: boolean;
}

export interface Task<T> {
  /** That it takes while it runs. */
  readonly bytes: number;
  run(ticket: Ticket): Promise<T>;
  /** Called when the running task is aborted: stop early, if that can be done. */
  interrupt(): void;
  /** Called once, whether it ran, failed or never started. */
  done(): void;
}

/** Tasks that take more together run one after the other: so large ones need no more memory than each alone. */
export const TOGETHER_BYTES = 2 ** 26;

/** None of these throws. */
interface Entry {
  readonly bytes: number;
  start(): Promise<void>;
  /** Rejects the caller's promise; the entry is not started, or its result is dropped. */
  cancel(error: HeedError): void;
  /** Frees what a task holds that is over or never started. Can be repeated. */
  drop(): void;
}

export class Queue {
  readonly #width: () => number;
  #waiting: Entry[] = [];
  readonly #running = new Set<Entry>();

  /** `width` says how many tasks may run at present; one always may. */
  constructor(width: () => number) {
    this.#width = width;
  }

  /** True when a task of so many bytes would start inside `push`. */
  admits(bytes: number): boolean {
    return this.#waiting.length === 0 && this.#hasRoom(bytes);
  }

  /** `operation` is the caller's function, for messages. */
  push<T>(task: Task<T>, signal: AbortSignal | null, operation = "attention"): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const ticket: Ticket = { cancelled: false };
      let dropped = false;
      const stop = (error: HeedError): void => {
        entry.cancel(error);
        if (this.#running.has(entry)) {
          quietly(() => task.interrupt());
          return;
        }
        this.#waiting = this.#waiting.filter((other) => other !== entry);
        entry.drop();
      };
      const abort = (): void => {
        const cause = quietly((): unknown => signal?.reason);
        stop(new HeedError("aborted", `${operation}: aborted by its signal`, { cause }));
      };
      const entry: Entry = {
        bytes: task.bytes,
        start: async () => {
          try {
            resolve(await task.run(ticket));
          } catch (error) {
            reject(error);
          }
          entry.drop();
        },
        cancel: (error) => {
          ticket.cancelled = true;
          reject(error);
        },
        drop: () => {
          if (dropped) return;
          dropped = true;
          quietly(() => signal?.removeEventListener("abort", abort));
          quietly(() => task.done());
        },
      };
      this.#waiting.push(entry);
      this.#startNext();
      // After the start, which reads the inputs: a signal may be anybody's object, and run anything here.
      try {
        signal?.addEventListener("abort", abort, { once: true });
      } catch (cause) {
        stop(new HeedError("option", `${operation}: signal takes no listener: ${causeText(cause)}`, { cause }));
      }
    });
  }

  /** Rejects everything. What runs is not waited for. */
  close(error: HeedError): void {
    for (const entry of this.#running) entry.cancel(error);
    for (const entry of this.#waiting) {
      entry.cancel(error);
      entry.drop();
    }
    this.#waiting = [];
  }

  #hasRoom(bytes: number): boolean {
    if (this.#running.size === 0) return true;
    let together = bytes;
    for (const entry of this.#running) together += entry.bytes;
    return this.#running.size < this.#width() && together <= TOGETHER_BYTES;
  }

  #startNext(): void {
    for (let entry = this.#waiting[0]; entry !== undefined && this.#hasRoom(entry.bytes); entry = this.#waiting[0]) {
      this.#waiting.shift();
      void this.#run(entry);
    }
  }

  async #run(entry: Entry): Promise<void> {
    this.#running.add(entry);
    await entry.start();
    this.#running.delete(entry);
    this.#startNext();
  }
}

/** For what must not keep later tasks from running, and has no caller left to tell. */
function quietly<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
