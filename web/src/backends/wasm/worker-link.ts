// One worker from outside: started, asked one thing at a time, and noticed when it dies.

import { causeText } from "../../api/errors.js";
import { type AnyWorker, fileWorker } from "./any-worker.js";
import { ownWorker } from "./inlined.js";
import type { BlockMessage, DoneMessage, ForgetMessage, FromWorker, StartMessage, ToWorker } from "./protocol.js";

/** How the caller wants workers made; both null: the package's own. */
export interface WorkerOverrides {
  readonly workerUrl: string | null;
  readonly workerFactory: (() => unknown) | null;
}

/** The worker is gone, and with it the call that it was computing. */
export class WorkerLost extends Error {
  override readonly name: string = "WorkerLost";
  /** It was never heard of. */
  readonly isSilent: boolean;

  constructor(message: string, isSilent = false) {
    super(message);
    this.isSilent = isSilent;
  }
}

/** A worker that neither starts nor fails within this time never will: some policies block it without an event. */
const START_TIMEOUT_MS = 15_000;

type OnLost = (lost: WorkerLost) => void;

interface Pending {
  resolve(message: DoneMessage): void;
  reject(error: WorkerLost): void;
}

export class WorkerLink {
  readonly #worker: AnyWorker;
  readonly #ready: Promise<void>;
  #onLost: OnLost = () => {};
  #settleStart: { resolve(): void; reject(error: WorkerLost): void } | null = null;
  /** Of requests under way, which are answered in the order in which they were made. */
  #pending: Pending[] = [];
  #lost: WorkerLost | null = null;

  /** Makes a worker, which is to be started. Throws WorkerLost where none can be made. */
  constructor(overrides: WorkerOverrides) {
    const worker = makeWorker(overrides);
    this.#worker = worker;
    this.#ready = new Promise((resolve, reject) => {
      this.#settleStart = { resolve, reject };
    });
    // Heard of by whoever starts it, if anybody does.
    this.#ready.catch(() => {});
    if (worker.on !== undefined) this.#listenNode(worker);
    else this.#listenWeb(worker);
  }

  /**
   * Resolves when the worker has its instance. Rejects with WorkerLost when it gets none. `onLost` is called when the worker is gone
   * after this, by itself or terminated.
   */
  async start(message: StartMessage, onLost: OnLost): Promise<void> {
    this.#onLost = onLost;
    const timer = setTimeout(() => this.#lose("it did not start in time", true), START_TIMEOUT_MS);
    try {
      if (this.#lost === null) this.#post(message, []);
      await this.#ready;
    } finally {
      clearTimeout(timer);
    }
    this.#worker.unref?.();
  }

  /** Why the worker is gone; null while it lives. */
  get lost(): WorkerLost | null {
    return this.#lost;
  }

  /** While a request is not answered. */
  get isBusy(): boolean {
    return this.#pending.length > 0;
  }

  /** Asks for one computation; it comes after those that were asked for before. */
  request(message: BlockMessage, transfer: readonly ArrayBuffer[]): Promise<DoneMessage> {
    const answer = this.answer();
    if (this.#lost === null) this.#post(message, transfer);
    return answer;
  }

  /** What the worker will answer that was asked by other ways than a message. */
  answer(): Promise<DoneMessage> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== null) {
        reject(this.#lost);
        return;
      }
      this.#pending.push({ resolve, reject });
      // Node ends when only idle workers are left.
      this.#worker.ref?.();
    });
  }

  /** Waits for work that is seen to be over by other ways than a message, unless the worker is gone before. */
  during(work: Promise<DoneMessage>): Promise<DoneMessage> {
    const answer = this.answer();
    work.then((message) => this.#answer(message));
    return answer;
  }

  tell(message: ForgetMessage): void {
    if (this.#lost === null) this.#post(message, []);
  }

  /** Ends the worker at once; what it was computing is lost. */
  terminate(reason: string): void {
    this.#lose(reason);
  }

  #post(message: ToWorker, transfer: readonly ArrayBuffer[]): void {
    try {
      this.#worker.postMessage(message, transfer);
    } catch (error) {
      this.#lose(`it cannot be sent messages: ${causeText(error)}`);
    }
  }

  #listenWeb(worker: AnyWorker): void {
    worker.addEventListener?.("message", (event) => this.#receive(event.data));
    worker.addEventListener?.("messageerror", () => this.#lose("a message of its could not be read"));
    worker.addEventListener?.("error", (event) => {
      this.#lose(event.message || "the page's policy or the network refused its source");
    });
  }

  #listenNode(worker: AnyWorker): void {
    worker.on?.("message", (message) => this.#receive(message));
    worker.on?.("messageerror", () => this.#lose("a message of its could not be read"));
    worker.on?.("error", (error) => this.#lose(causeText(error)));
    worker.on?.("exit", (code) => this.#lose(`it ended with code ${String(code)}`));
  }

  /** A worker of the caller's making may post what is not of the protocol: that is left alone. */
  #receive(posted: unknown): void {
    if (typeof posted !== "object" || posted === null || !("kind" in posted)) return;
    // The boundary to the worker: what has a kind of the protocol's is the protocol's.
    const message = posted as FromWorker;
    if (message.kind === "ready") this.#settleStart?.resolve();
    else if (message.kind === "failed") this.#lose(message.message);
    else if (message.kind === "done") this.#answer(message);
  }

  #answer(message: DoneMessage): void {
    const answered = this.#pending.shift();
    if (!this.isBusy) this.#worker.unref?.();
    answered?.resolve(message);
  }

  #lose(reason: string, isSilent = false): void {
    if (this.#lost !== null) return;
    this.#lost = new WorkerLost(reason, isSilent);
    this.#worker.terminate();
    this.#settleStart?.reject(this.#lost);
    const pending = this.#pending;
    this.#pending = [];
    for (const { reject } of pending) reject(this.#lost);
    this.#onLost(this.#lost);
  }
}

/** Where workers come from. Some are made ahead, and start up while the kernels are loaded that they are to be given. */
export class WorkerSource {
  readonly #overrides: WorkerOverrides;
  #ahead: (() => WorkerLink)[];

  constructor(overrides: WorkerOverrides, ahead: number) {
    this.#overrides = overrides;
    this.#ahead = Array.from({ length: ahead }, () => made(() => new WorkerLink(overrides)));
  }

  /** Throws WorkerLost where none can be made. */
  take(): WorkerLink {
    const next = this.#ahead.shift();
    return next === undefined ? new WorkerLink(this.#overrides) : next();
  }

  /** They are not needed after all. */
  endAhead(): void {
    for (const next of this.#ahead) {
      try {
        next().terminate("it was not needed");
      } catch {
        // There is none.
      }
    }
    this.#ahead = [];
  }
}

/** What was made just now, or what it threw, for whoever asks for it. */
function made<T>(make: () => T): () => T {
  try {
    const value = make();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function makeWorker({ workerFactory, workerUrl }: WorkerOverrides): AnyWorker {
  try {
    // The boundary to a worker of the caller's making.
    if (workerFactory !== null) return workerFactory() as AnyWorker;
    return workerUrl === null ? ownWorker() : fileWorker(workerUrl);
  } catch (error) {
    throw new WorkerLost(causeText(error));
  }
}
