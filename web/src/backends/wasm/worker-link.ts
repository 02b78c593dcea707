// The page's side of one worker: starts it, sends it requests in order, and notices when it dies.

import { causeText } from "../../base/errors.js";
import { type AnyWorker, fileWorker, type WorkerEvent } from "./any-worker.js";
import { ownWorker } from "./inlined.js";
import type { BlockMessage, DoneMessage, ForgetMessage, FromWorker, StartMessage, ToWorker } from "./protocol.js";

/** How the caller wants workers to be made; the package's own when both are null. */
export interface WorkerOverrides {
  readonly workerUrl: string | null;
  readonly workerFactory: (() => unknown) | null;
}

/** The worker is gone, and the call that it computed with it. */
export class WorkerLost extends Error {
  override readonly name: string = "WorkerLost";
  /** No message and no error ever came from it. */
  readonly isSilent: boolean;

  constructor(message: string, isSilent = false) {
    super(message);
    this.isSilent = isSilent;
  }
}

/**
 * Some policies block a worker without any event, so one that neither starts nor fails in so many times five seconds is given up. They are
 * counted one by one: all the time for which a page was frozen is one of them, and its worker was frozen as well.
 */
const START_TIMES = 3;

type OnLost = (lost: WorkerLost) => void;

interface Pending {
  resolve(message: DoneMessage): void;
  reject(error: WorkerLost): void;
}

export class WorkerLink {
  /** Undefined where none can be made. */
  #worker: AnyWorker | undefined;
  readonly #ready: Promise<void>;
  #onLost: OnLost = () => {};
  #settleStart: { resolve(): void; reject(error: WorkerLost): void } | null = null;
  /** Requests in flight; answers come in their order. */
  #pending: Pending[] = [];
  #lost: WorkerLost | null = null;

  /** Makes a worker, which `start` then starts. */
  constructor(overrides: WorkerOverrides) {
    this.#ready = new Promise((resolve, reject) => {
      this.#settleStart = { resolve, reject };
    });
    // `start` reports the rejection; a link that is never started must not cause an unhandled one.
    this.#ready.catch(() => {});
    try {
      const worker = makeWorker(overrides);
      this.#worker = worker;
      this.#listen(worker);
    } catch (error) {
      this.#lose(causeText(error));
    }
  }

  /**
   * Resolves when the worker has its instance, and rejects with WorkerLost when it gets none. `onLost` is called when the worker dies
   * or is terminated later.
   */
  async start(message: StartMessage, onLost: OnLost): Promise<void> {
    this.#onLost = onLost;
    let left = START_TIMES;
    const timer = setInterval(() => {
      if (--left === 0) this.#lose("it did not start", true);
    }, 5000);
    try {
      if (this.#lost === null) this.#post(message, []);
      await this.#ready;
    } finally {
      clearInterval(timer);
    }
    this.#worker?.unref?.();
  }

  /** Why the worker is gone; null while it lives. */
  get lost(): WorkerLost | null {
    return this.#lost;
  }

  /** Whether a request is not answered yet. */
  get isBusy(): boolean {
    return this.#pending.length > 0;
  }

  /** Sends one computation. The worker handles requests in order. */
  request(message: BlockMessage, transfer: readonly ArrayBuffer[]): Promise<DoneMessage> {
    const answer = this.answer();
    if (this.#lost === null) this.#post(message, transfer);
    return answer;
  }

  /** The next answer of a worker that was not called by message. */
  answer(): Promise<DoneMessage> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== null) {
        reject(this.#lost);
        return;
      }
      this.#pending.push({ resolve, reject });
      // Node ends when only idle workers are left.
      this.#worker?.ref?.();
    });
  }

  /** Waits for work whose end is not told by message. Rejects if the worker is lost first. */
  during(work: Promise<DoneMessage>): Promise<DoneMessage> {
    const answer = this.answer();
    work.then((message) => this.#answer(message));
    return answer;
  }

  tell(message: ForgetMessage): void {
    if (this.#lost === null) this.#post(message, []);
  }

  /** Terminates the worker; what it computes is lost. */
  terminate(reason: string): void {
    this.#lose(reason);
  }

  #post(message: ToWorker, transfer: readonly ArrayBuffer[]): void {
    try {
      this.#worker?.postMessage(message, transfer);
    } catch (error) {
      this.#lose(`it cannot be sent messages: ${causeText(error)}`);
    }
  }

  /** Node's workers give values, browsers' give events. */
  #listen(worker: AnyWorker): void {
    const listen = (type: string, act: (given: WorkerEvent) => void): void => {
      if (worker.on === undefined) worker.addEventListener?.(type, act);
      else worker.on(type, (value) => act({ data: value, message: causeText(value) }));
    };
    listen("message", ({ data }) => this.#receive(data));
    listen("messageerror", () => this.#lose("a message could not be read"));
    listen("error", ({ message }) => this.#lose(message || "the page's policy or the network refused its source"));
    worker.on?.("exit", (code) => this.#lose(`it ended with code ${String(code)}`));
  }

  /** Ignores messages that are not of the protocol, which a worker of the caller's making may post. */
  #receive(posted: unknown): void {
    if (typeof posted !== "object" || posted === null || !("kind" in posted)) return;
    // A message with a `kind` is taken to be of the protocol.
    const message = posted as FromWorker;
    if (message.kind === "ready") this.#settleStart?.resolve();
    else if (message.kind === "failed") this.#lose(message.message);
    else if (message.kind === "done") this.#answer(message);
  }

  #answer(message: DoneMessage): void {
    const answered = this.#pending.shift();
    if (!this.isBusy) this.#worker?.unref?.();
    answered?.resolve(message);
  }

  #lose(reason: string, isSilent = false): void {
    if (this.#lost !== null) return;
    this.#lost = new WorkerLost(reason, isSilent);
    this.#worker?.terminate();
    this.#settleStart?.reject(this.#lost);
    const pending = this.#pending;
    this.#pending = [];
    for (const { reject } of pending) reject(this.#lost);
    this.#onLost(this.#lost);
    // A worker that has still to end must not keep a memory.
    this.#onLost = () => {};
  }
}

/** Makes workers. Some are made ahead, so that they start up while the kernels are loaded. */
export class WorkerSource {
  readonly #overrides: WorkerOverrides;
  readonly #ahead: WorkerLink[];

  constructor(overrides: WorkerOverrides, ahead: number) {
    this.#overrides = overrides;
    this.#ahead = Array.from({ length: ahead }, () => new WorkerLink(overrides));
  }

  take(): WorkerLink {
    return this.#ahead.shift() ?? new WorkerLink(this.#overrides);
  }

  /** Terminates those that were made ahead and not taken. */
  endAhead(): void {
    for (const link of this.#ahead.splice(0)) link.terminate("it was not needed");
  }
}

function makeWorker({ workerFactory, workerUrl }: WorkerOverrides): AnyWorker {
  // The caller promises that it makes a worker.
  if (workerFactory !== null) return workerFactory() as AnyWorker;
  return workerUrl === null ? ownWorker() : fileWorker(workerUrl);
}
