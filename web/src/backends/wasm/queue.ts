// A queue of calls, started in order of arrival, several at a time. Each can be aborted while it waits or runs. A call that is not
// ready, because the engine lacks its module, waits outside and takes no place: what brings the module may need that place.

import { causeText, HeedError } from "../../base/errors.js";

/** Set when the caller no longer waits for the result. */
export interface CancelFlag {
  cancelled: boolean;
}

export interface Task<T> {
  /** Memory that it takes while it runs. */
  readonly bytes: number;
  /** Asked right before `run`: null, or what to wait for before it is asked again. A rejection is the task's. */
  blocked(): Promise<unknown> | null;
  run(flag: CancelFlag): Promise<T>;
  /** Called when the running task is aborted, so that it can stop early. */
  interrupt(): void;
  /** Called exactly once, also when the task failed or never started. */
  done(): void;
}

/** Tasks run concurrently only within this sum of bytes, so that large ones do not fill the memory together. */
export const CONCURRENT_BYTES = 2 ** 26;

/** A task in the queue. None of these functions throws. */
interface Entry {
  readonly operation: string;
  readonly bytes: number;
  blocked(): Promise<unknown> | null;
  start(): Promise<void>;
  /** Rejects the caller's promise. The result of a task that runs is dropped. */
  cancel(error: unknown): void;
  /** Frees what the task holds, after it ran or instead of running it. Can be repeated. */
  drop(): void;
}

export class Queue {
  readonly #width: () => number;
  #waiting: Entry[] = [];
  readonly #blocked = new Set<Entry>();
  readonly #running = new Set<Entry>();

  /** `width` gives how many tasks may run at a time; one always may. */
  constructor(width: () => number) {
    this.#width = width;
  }

  /** Whether a task of so many bytes would start inside `push`. */
  admits(bytes: number): boolean {
    return this.#waiting.length === 0 && this.#hasRoom(bytes);
  }

  /** `operation` is the caller's function, for messages. */
  push<T>(task: Task<T>, signal: AbortSignal | null, operation = "heed"): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const flag: CancelFlag = { cancelled: false };
      let dropped = false;
      const stop = (error: HeedError): void => {
        entry.cancel(error);
        if (this.#running.has(entry)) {
          quietly(() => task.interrupt());
          return;
        }
        this.#waiting = this.#waiting.filter((other) => other !== entry);
        this.#blocked.delete(entry);
        entry.drop();
      };
      const abort = (): void => {
        const cause = quietly((): unknown => signal?.reason);
        stop(abortedError(operation, cause));
      };
      const entry: Entry = {
        operation,
        bytes: task.bytes,
        blocked: () => task.blocked(),
        start: async () => {
          try {
            resolve(await task.run(flag));
          } catch (error) {
            reject(error);
          }
          entry.drop();
        },
        cancel: (error) => {
          flag.cancelled = true;
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
      // Only after the start, which reads the inputs: a signal may be an object of the caller's, and run any code here.
      try {
        signal?.addEventListener("abort", abort, { once: true });
      } catch (cause) {
        stop(new HeedError("option", `${operation}: signal takes no listener: ${causeText(cause)}`, { cause }));
      }
    });
  }

  /** Rejects all tasks, and does not wait for those that run. */
  close({ code, message }: HeedError): void {
    for (const entry of [...this.#running, ...this.#blocked, ...this.#waiting]) {
      entry.cancel(new HeedError(code, `${entry.operation}: ${message}`));
      if (!this.#running.has(entry)) entry.drop();
    }
    this.#waiting = [];
    this.#blocked.clear();
  }

  #hasRoom(bytes: number): boolean {
    if (this.#running.size === 0) return true;
    let total = bytes;
    for (const entry of this.#running) total += entry.bytes;
    return this.#running.size < this.#width() && total <= CONCURRENT_BYTES;
  }

  #startNext(): void {
    for (let entry = this.#waiting[0]; entry !== undefined && this.#hasRoom(entry.bytes); entry = this.#waiting[0]) {
      this.#waiting.shift();
      const blocked = entry.blocked();
      void (blocked === null ? this.#run(entry) : this.#wait(entry, blocked));
    }
  }

  async #wait(entry: Entry, blocked: Promise<unknown>): Promise<void> {
    this.#blocked.add(entry);
    try {
      await blocked;
    } catch (error) {
      this.#blocked.delete(entry);
      entry.cancel(error);
      entry.drop();
    }
    // It may have been stopped meanwhile.
    if (this.#blocked.delete(entry)) this.#waiting.push(entry);
    this.#startNext();
  }

  async #run(entry: Entry): Promise<void> {
    this.#running.add(entry);
    await entry.start();
    this.#running.delete(entry);
    this.#startNext();
  }
}

export function abortedError(operation: string, cause?: unknown): HeedError {
  return new HeedError("aborted", `${operation}: aborted by its signal`, { cause });
}

/** Ignores errors of the caller's code where nobody is left to tell and later tasks must still run. */
function quietly<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
