// Workers with memories of their own, as a page has them that is not cross-origin isolated: a call is cut into slices, and each
// worker is sent one after the other, with the pieces of the inputs that it has not had yet.

import { causeText, HeedError } from "../../api/errors.js";
import type { Span } from "../backend.js";
import { MAX_WORKERS } from "./generated/attention-call.js";
import type { Job, OutputPart } from "./job.js";
import type { Finished, Kernels } from "./kernels.js";
import { type Piece, type Portion, piecesFor, ResidentPieces, SlicedJob, WholePortion } from "./portions.js";
import { TRAPPED } from "./protocol.js";
import type { WasmResident } from "./residents.js";
import { type Runner, throwOutcome } from "./runner.js";
import { type Grain, slicesOf } from "./slices.js";
import { type WorkerLink, WorkerLost, type WorkerSource } from "./worker-link.js";

/** A slice pays for its two messages with a tenth of a millisecond's work at least; at most a few, so that an abort need not wait. */
const LEAST_OF_SLICE = 2 ** 22;
const MOST_OF_SLICE = 2 ** 26;

/** So that workers which start late, or meet short rows, still end together. */
const SLICES_PER_WORKER = 4;

/** Beyond, making them would keep this thread. */
const MOST_SLICES = 256;

/** Slices that a worker has at a time: the next one waits there while this thread is busy. */
const DEPTH = 2;

/** Workers that are not done so long after an abort are ended. */
const PATIENCE_MS = 40;

export interface PrivateOverrides {
  readonly threads: number;
  /** How calls are cut, where that is not this file's to say: for tests. */
  readonly grain: Grain | null;
}

/** A worker, what it holds, and what it is at. */
interface Member {
  readonly link: WorkerLink;
  /** The call of each slice that it has been sent and not answered: the same. */
  readonly underway: Deal[];
  /** The pieces that it has, and the version of each. */
  readonly stored: Map<number, number>;
  memoryBytes: number;
  slicesDone: number;
}

/** A call's portions, dealt out to workers by their home. */
class Deal {
  readonly job: Job;
  /** Settles when all that was sent is answered, and nothing is left to send. */
  readonly over: Promise<void>;
  #left: Portion[];
  #sent = 0;
  #error: unknown = null;
  #settle = (): void => {};
  readonly #workers: number;

  constructor(job: Job, portions: readonly Portion[], workers: number) {
    this.job = job;
    this.#left = [...portions];
    this.#workers = workers;
    this.over = new Promise((resolve, reject) => {
      this.#settle = () => (this.#error === null ? resolve() : reject(this.#error));
    });
    this.#endIfOver();
  }

  /** The next for this worker: of its own, or, when those are all taken, of another's. */
  next(worker: number): Portion | undefined {
    const own = this.#left.findIndex(({ home }) => home % this.#workers === worker);
    const portion = own === -1 ? this.#left.pop() : this.#left.splice(own, 1)[0];
    if (portion !== undefined) this.#sent += 1;
    return portion;
  }

  wants(piece: Piece): boolean {
    return this.#left.some(({ pieces }) => pieces.some((part) => part.piece === piece));
  }

  answered(): void {
    this.#sent -= 1;
    this.#endIfOver();
  }

  /** Sends nothing any more. */
  stop(error: unknown): void {
    this.#error ??= error;
    this.#left = [];
    this.#endIfOver();
  }

  get isStopped(): boolean {
    return this.#error !== null;
  }

  #endIfOver(): void {
    if (this.#left.length === 0 && this.#sent === 0) this.#settle();
  }
}

export class PrivateRunner implements Runner {
  readonly #kernels: Kernels;
  readonly #workers: WorkerSource;
  readonly #overrides: PrivateOverrides;
  readonly #pieces: ResidentPieces;
  readonly #missing: string[] = [];
  #members: Member[] = [];
  /** Workers that an abort ended, and that are being replaced. */
  #ended = 0;
  #lost: WorkerLost | null = null;
  /** Of the calls that run, in their order. */
  #deals: Deal[] = [];
  #disposed = false;

  /** Rejects with WorkerLost when not even one worker starts; others that do not are done without. */
  static async open(kernels: Kernels, workers: WorkerSource, overrides: PrivateOverrides): Promise<PrivateRunner> {
    const runner = new PrivateRunner(kernels, workers, overrides);
    const { threads } = overrides;
    if (threads > MAX_WORKERS) runner.#missing.push(`a pool has at most ${MAX_WORKERS} workers`);
    await runner.#start(Math.min(threads, MAX_WORKERS));
    if (runner.#members.length > 0) return runner;
    throw runner.#lost ?? new WorkerLost("no worker started");
  }

  private constructor(kernels: Kernels, workers: WorkerSource, overrides: PrivateOverrides) {
    this.#kernels = kernels;
    this.#workers = workers;
    this.#overrides = overrides;
    this.#pieces = new ResidentPieces(kernels);
  }

  get lost(): WorkerLost | null {
    return this.threads === 0 ? this.#lost : null;
  }

  get threads(): number {
    return this.#members.length + this.#ended;
  }

  get calls(): number {
    return this.threads;
  }

  get threadReasons(): readonly string[] {
    return this.#missing;
  }

  get memoryBytes(): number {
    return this.#members.reduce((total, { memoryBytes }) => total + memoryBytes, 0);
  }

  tasksDone(worker: number): number {
    return this.#members[worker]?.slicesDone ?? 0;
  }

  async run(job: Job, multiplications: number): Promise<Finished> {
    const slices = slicesOf(job, multiplications, this.#overrides.grain ?? this.#grain());
    if (slices.length === 1) {
      const whole = new WholePortion(job, this.#pieces);
      await this.#compute(job, [whole]);
      return finished(whole.results);
    }
    const sliced = new SlicedJob(job, slices, this.#pieces);
    try {
      await this.#compute(job, sliced.portions);
      return finished(sliced.results);
    } finally {
      this.#forget(sliced.ownPieces);
    }
  }

  /** Sends no slice any more; a worker that is long at one is ended. */
  interrupt(job: Job): void {
    const stopped = new HeedError("aborted", `${job.operation}: stopped by its caller`);
    for (const deal of this.#deals) if (deal.job === job) deal.stop(stopped);
    setTimeout(() => {
      for (const one of this.#members) if (one.underway[0]?.job === job) void this.#replace(one);
    }, PATIENCE_MS);
  }

  forget(resident: WasmResident, changed?: readonly Span[]): void {
    this.#forget(changed === undefined ? this.#pieces.forget(resident) : this.#pieces.change(resident, changed));
  }

  dispose(): void {
    this.#disposed = true;
    const lost = new WorkerLost("the engine was disposed");
    for (const deal of this.#deals) deal.stop(lost);
    for (const { link } of this.#members) link.terminate(lost.message);
  }

  #grain(): Grain {
    const count = this.threads === 1 ? 1 : this.threads * SLICES_PER_WORKER;
    return { least: LEAST_OF_SLICE, most: MOST_OF_SLICE, count, upTo: MOST_SLICES };
  }

  /** Rejects when all that was sent is answered, so that later calls find idle workers. */
  async #compute(job: Job, portions: readonly Portion[]): Promise<void> {
    const deal = new Deal(job, portions, this.threads);
    this.#deals.push(deal);
    if (this.lost !== null) deal.stop(this.lost);
    this.#sendNext();
    try {
      await deal.over;
    } finally {
      this.#deals = this.#deals.filter((one) => one !== deal);
    }
  }

  /** To each worker one before any gets another, of the first call that has one left; while it is at another call's, none. */
  #sendNext(): void {
    for (let depth = 1; depth <= DEPTH; depth++) {
      for (const [index, member] of this.#members.entries()) {
        const present = member.underway[0];
        if (member.underway.length >= depth || present?.isStopped === true) continue;
        for (const deal of present === undefined ? this.#deals : [present]) {
          const portion = deal.next(index);
          if (portion === undefined) continue;
          void this.#send(member, deal, portion);
          break;
        }
      }
    }
  }

  async #send(member: Member, deal: Deal, portion: Portion): Promise<void> {
    member.underway.push(deal);
    try {
      portion.take(await this.#ask(member, portion, deal));
      member.slicesDone += 1;
    } catch (error) {
      deal.stop(this.#reasonOf(error, deal));
    }
    member.underway.pop();
    deal.answered();
    this.#sendNext();
  }

  /** Not all workers are lost, and the next call is computed by the rest. */
  #reasonOf(error: unknown, { job }: Deal): unknown {
    if (!(error instanceof WorkerLost) || this.lost !== null || this.#disposed) return error;
    return new HeedError("device-lost", `${job.operation}: a worker that computed it is lost: ${error.message}`);
  }

  async #ask(member: Member, portion: Portion, deal: Deal): Promise<readonly ArrayBuffer[]> {
    const { link, stored } = member;
    const pieces = piecesFor(portion, stored, (piece) => !deal.wants(piece));
    const message = { ...portion.message(), pieces };
    // Told before it is answered: the worker takes one message after the other.
    for (const { piece } of portion.pieces) stored.set(piece.id, piece.version);
    const data = pieces.map((piece) => piece.data).filter((buffer) => buffer !== null);
    const done = await link.request(message, [message.block, ...data]);
    member.memoryBytes = done.memoryBytes;
    if (done.status === TRAPPED) {
      // Its instance is in doubt.
      link.terminate(done.message);
      throw new WorkerLost(done.message);
    }
    for (const id of done.refused) stored.delete(id);
    throwOutcome(done, deal.job.operation);
    return done.outputs;
  }

  #forget(pieces: readonly Piece[]): void {
    for (const { link, stored } of this.#members) {
      const ids = pieces.map(({ id }) => id).filter((id) => stored.delete(id));
      if (ids.length > 0) link.tell({ kind: "forget", ids });
    }
  }

  async #replace(late: Member): Promise<void> {
    this.#members = this.#members.filter((one) => one !== late);
    this.#ended += 1;
    late.link.terminate("its call was aborted");
    await this.#start(1);
    this.#ended -= 1;
    this.#goOn();
  }

  /** With the workers that there are. */
  #goOn(): void {
    if (this.lost !== null) for (const deal of this.#deals) deal.stop(this.lost);
    this.#sendNext();
  }

  async #start(count: number): Promise<void> {
    const start = { kind: "start", module: this.#kernels.compiled, shared: null } as const;
    await Promise.all(
      Array.from({ length: count }, async () => {
        try {
          const link = this.#workers.take();
          await link.start(start, (lost) => this.#lose(link, lost));
          if (this.#disposed) link.terminate("the engine was disposed");
          else if (link.lost !== null) throw link.lost;
          else this.#members.push({ link, underway: [], stored: new Map(), memoryBytes: 0, slicesDone: 0 });
        } catch (error) {
          this.#lost = error instanceof WorkerLost ? error : new WorkerLost(causeText(error));
          this.#missing.push(`a worker did not start (${causeText(error)})`);
        }
      }),
    );
  }

  #lose(link: WorkerLink, lost: WorkerLost): void {
    const before = this.#members.length;
    this.#members = this.#members.filter((one) => one.link !== link);
    if (this.#members.length === before || this.#disposed) return;
    this.#lost = lost;
    this.#missing.push(`a worker was lost (${lost.message})`);
    this.#goOn();
  }
}

function finished(results: ReadonlyMap<OutputPart, Float32Array>): Finished {
  const array = (part: OutputPart): Float32Array => results.get(part) ?? new Float32Array(0);
  return { view: array, array, release: () => {} };
}
