// One worker from outside: started, asked one thing at a time, and noticed when it dies.

import { causeText } from "../../api/errors.js";
import { type AnyWorker, fileWorker } from "./any-worker.js";
import { ownWorker } from "./inlined.js";
import type {
  BlockMessage,
  CallMessage,
  DoneMessage,
  ForgetMessage,
  FromWorker,
  StartMessage,
  ToWorker,
} from "./protocol.js";

/** How the caller wants workers made; both null: the package's own. */
export interface WorkerOverrides {
  readonly workerUrl: string | null;
  readonly workerFactory: (() => unknown) | null;
}

/** The worker is gone, and with it the call that it was computing. */
export class WorkerLost extends Error {
  override readonly name: string = "WorkerLost";
}

/** A worker that neither starts nor fails within this time never will: some policies block it without an event. */
const START_TIMEOUT_MS = 15_000;

type OnLost = (lost: WorkerLost, link: WorkerLink) => void;

interface Pending {
  resolve(message: DoneMessage): void;
  reject(error: WorkerLost): void;
}

export class WorkerLink {
  readonly #worker: AnyWorker;
  readonly #onLost: OnLost;
  readonly #started: Promise<void>;
  #settleStart: { resolve(): void; reject(error: WorkerLost): void } | null = null;
  /** Of requests under way, which are answered in the order in which they were made. */
  #pending: Pending[] = [];
  #lost: WorkerLost | null = null;

  /**
   * Resolves when the worker has its instance. Rejects with WorkerLost where none can be made. `onLost` is called when it is
   * gone, by itself or terminated.
   */
  static async open(overrides: WorkerOverrides, start: StartMessage, onLost: OnLost = () => {}): Promise<WorkerLink> {
    const link = new WorkerLink(makeWorker(overrides), onLost);
    const timer = setTimeout(() => link.#lose("it did not start in time"), START_TIMEOUT_MS);
    try {
      link.#post(start, []);
      await link.#started;
    } finally {
      clearTimeout(timer);
    }
    link.#worker.unref?.();
    return link;
  }

  private constructor(worker: AnyWorker, onLost: OnLost) {
    this.#worker = worker;
    this.#onLost = onLost;
    this.#started = new Promise((resolve, reject) => {
      this.#settleStart = { resolve, reject };
    });
    if (worker.on !== undefined) this.#listenNode(worker);
    else this.#listenWeb(worker);
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
  request(message: CallMessage | BlockMessage, transfer: readonly ArrayBuffer[] = []): Promise<DoneMessage> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== null) {
        reject(this.#lost);
        return;
      }
      this.#pending.push({ resolve, reject });
      // Node ends when only idle workers are left.
      this.#worker.ref?.();
      this.#post(message, transfer);
    });
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

  #lose(reason: string): void {
    if (this.#lost !== null) return;
    this.#lost = new WorkerLost(reason);
    this.#worker.terminate();
    this.#settleStart?.reject(this.#lost);
    const pending = this.#pending;
    this.#pending = [];
    for (const { reject } of pending) reject(this.#lost);
    this.#onLost(this.#lost, this);
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
