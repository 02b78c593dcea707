// Runs calls on workers that have their own memories, because the page is not cross-origin isolated. A call is cut into shards, and
// a worker is sent one shard after the other, with the input buffers that it does not hold yet.

import { causeText, HeedError } from "../../base/errors.js";
import { nextTask } from "../../platform/next-task.js";
import type { Span } from "../backend.js";
import { bufferUses, ResidentBuffers } from "./cached-buffers.js";
import { CallBlock } from "./call-block.js";
import { MAX_WORKERS } from "./generated/attention-call.js";
import type { Job, OutputPart } from "./job.js";
import type { Finished, Kernels } from "./kernels.js";
import { SlicedRunner } from "./local-runners.js";
import { type BlockMessage, TRAPPED } from "./protocol.js";
import type { Member, Remote } from "./remote.js";
import type { WasmResident } from "./resident.js";
import { type Runner, throwOutcome } from "./runner.js";
import type { Shard } from "./shard.js";
import { ShardQueue } from "./shard-queue.js";
import { ShardedJob } from "./shards.js";
import { type Grain, slicesOf } from "./slices.js";
import { type WorkerLink, WorkerLost, type WorkerSource } from "./worker-link.js";

/** A shard takes at least 0.1 ms, which pays for its two messages, and at most a few milliseconds, so that an abort need not wait. */
const MIN_SHARD = 2 ** 22;
const MAX_SHARD = 2 ** 26;

/** Several a worker, so that workers which start late, or get rows with few keys, still end together. */
const SHARDS_PER_WORKER = 4;

/** Packing more would block the calling thread. */
const MAX_SHARDS = 256;

/** A worker is sent this many shards ahead, so that it has work while the calling thread is busy. */
const DEPTH = 2;

/** Once so many bytes are packed, about a millisecond's, the next shard is packed in a task of its own. */
const MOST_PACKED = 2 ** 20;

/** Calls of a program that are written one by one take about as much; it grows. */
const BLOCK_BYTES = 2 ** 14;

/** A worker that is still computing this long after an abort is terminated. */
const ABORT_GRACE_MS = 40;

export interface PrivateOverrides {
  readonly threads: number;
  /** How finely calls are cut; tests set it. */
  readonly grain: Grain | null;
}

export class PrivateRunner implements Runner, Remote {
  readonly #kernels: Kernels;
  readonly #workers: WorkerSource;
  readonly #overrides: PrivateOverrides;
  readonly remote = this;
  readonly buffers: ResidentBuffers;
  /** Of calls that are not worth sending. */
  readonly #local: SlicedRunner;
  readonly #missing: string[] = [];
  members: readonly Member[] = [];
  /** Workers that an abort terminated and that are being replaced. */
  #ended = 0;
  /** Bytes that the current task has packed. */
  #packed = 0;
  #lost: WorkerLost | null = null;
  /** The queues of the running calls, oldest first. */
  #queues: ShardQueue[] = [];
  #disposed = false;

  /** Rejects with WorkerLost when no worker starts. When only some start, the calls run on those. */
  static async open(kernels: Kernels, workers: WorkerSource, overrides: PrivateOverrides): Promise<PrivateRunner> {
    const runner = new PrivateRunner(kernels, workers, overrides);
    const { threads } = overrides;
    if (threads > MAX_WORKERS) runner.#missing.push(`a pool has at most ${MAX_WORKERS} workers`);
    await runner.#start(Math.min(threads, MAX_WORKERS));
    if (runner.members.length > 0) return runner;
    throw runner.#lost ?? new WorkerLost("no worker started");
  }

  private constructor(kernels: Kernels, workers: WorkerSource, overrides: PrivateOverrides) {
    this.#kernels = kernels;
    this.#workers = workers;
    this.#overrides = overrides;
    this.buffers = new ResidentBuffers(kernels);
    this.#local = new SlicedRunner(kernels, overrides.grain);
  }

  get lost(): WorkerLost | null {
    return this.threads === 0 ? this.#lost : null;
  }

  get threads(): number {
    return this.members.length + this.#ended;
  }

  get calls(): number {
    return this.threads;
  }

  get threadReasons(): readonly string[] {
    return this.#missing;
  }

  get memoryBytes(): number {
    return this.members.reduce((total, { memoryBytes }) => total + memoryBytes, 0);
  }

  async run(job: Job, multiplications: number): Promise<Finished> {
    const { shard } = job;
    if (shard !== undefined) {
      await this.#compute(job, [shard]);
      return finishedOf(new Map());
    }
    const grain = this.#overrides.grain ?? this.#grain();
    const cut = job.cut(this.threads, grain.most);
    if (cut.memoryBound) return this.#local.run(job, multiplications);
    const slices = slicesOf(cut, multiplications, grain);
    // Taken for each answer anew: the memory may have grown.
    const residentOf = (part: OutputPart): Float32Array | undefined => {
      const resident = job.made.get(part);
      return resident && this.#kernels.heap.floats(resident.address, part.elements);
    };
    const sharded = new ShardedJob(job, cut, slices, this.buffers, residentOf);
    try {
      await this.#compute(job, sharded.shards);
      return finishedOf(sharded.results);
    } finally {
      this.drop(sharded.ownBuffers);
    }
  }

  /** Sends no more shards of the job, and terminates workers that take long with theirs, unless they have what others left there. */
  interrupt(job: Job): void {
    this.#local.interrupt(job);
    const stopped = new HeedError("aborted", `${job.operation}: stopped by its caller`);
    for (const queue of this.#queues) if (queue.job === job) queue.stop(stopped);
    setTimeout(() => {
      for (const one of this.members) {
        const hasOthers = one.tenants.size > (job.shard ? 1 : 0);
        if (one.inFlight[0]?.job === job && !hasOthers) void this.#replace(one);
      }
    }, ABORT_GRACE_MS);
  }

  forget(resident: WasmResident, changed?: readonly Span[]): void {
    if (changed === undefined) for (const { tenants } of this.members) tenants.delete(resident);
    this.drop(changed === undefined ? this.buffers.forget(resident) : this.buffers.change(resident, changed));
  }

  /** For calls that are written one by one. */
  block(): CallBlock {
    return new CallBlock("heed/layers", BLOCK_BYTES);
  }

  dispose(): void {
    this.#disposed = true;
    this.#local.dispose();
    const lost = new WorkerLost("the engine was disposed");
    for (const queue of this.#queues) queue.stop(lost);
    for (const { link } of this.members) link.terminate(lost.message);
  }

  #grain(): Grain {
    const count = this.threads === 1 ? 1 : this.threads * SHARDS_PER_WORKER;
    return { least: MIN_SHARD, most: MAX_SHARD, count, upTo: MAX_SHARDS };
  }

  /** Settles, even when it rejects, only once all that was sent is answered: later calls then find idle workers. */
  async #compute(job: Job, shards: readonly Shard[]): Promise<void> {
    const queue = new ShardQueue(job, shards);
    this.#queues.push(queue);
    this.#stopIfLost(queue);
    void this.#local.rest().then(() => this.#sendNext());
    try {
      await queue.over;
    } finally {
      this.#queues = this.#queues.filter((one) => one !== queue);
    }
  }

  /** Gives each worker one shard before any gets a second, which is packed in a task of its own. */
  #sendNext(): void {
    this.#sendUpTo(1);
    if (this.#queues.some(({ left }) => left > 0)) void nextTask().then(() => this.#sendUpTo(DEPTH));
  }

  /** Takes shards from the first call that has one left. A worker has shards of one call only. */
  #sendUpTo(depth: number): void {
    this.#packed = 0;
    for (const [index, member] of this.members.entries()) {
      const current = member.inFlight[0];
      if (member.inFlight.length >= depth) continue;
      if (this.#packed >= MOST_PACKED) {
        void nextTask().then(() => this.#sendUpTo(depth));
        return;
      }
      for (const queue of current === undefined ? this.#queues : [current]) {
        const shard = queue.next(index, this.members.length, member.link);
        if (shard === undefined) continue;
        void this.#send(member, queue, shard);
        break;
      }
    }
  }

  async #send(member: Member, queue: ShardQueue, shard: Shard): Promise<void> {
    member.inFlight.push(queue);
    try {
      shard.take(await this.#ask(member, shard, queue));
    } catch (error) {
      queue.stop(this.#reasonOf(error, queue));
    }
    member.inFlight.pop();
    queue.answered();
    this.#sendNext();
  }

  /** The call fails with `device-lost` while other workers are left to compute the next one. */
  #reasonOf(error: unknown, { job }: ShardQueue): unknown {
    if (!(error instanceof WorkerLost) || this.lost !== null || this.#disposed) return error;
    return new HeedError("device-lost", `${job.operation}: its worker is lost: ${error.message}`);
  }

  async #ask(member: Member, shard: Shard, queue: ShardQueue): Promise<readonly ArrayBuffer[]> {
    const { stored } = member;
    const buffers = bufferUses(shard.buffers, stored, (buffer) => !queue.needs(buffer));
    // Recorded before the answer: messages arrive in order, so the next one may count on these buffers.
    for (const { id, version } of shard.buffers) stored.set(id, version);
    return this.request(member, { ...shard.message(), buffers }, queue.job.operation);
  }

  async request(member: Member, message: BlockMessage, operation: string): Promise<readonly ArrayBuffer[]> {
    const { link, stored } = member;
    const data = message.buffers.flatMap((use) => use.data ?? []);
    this.#packed += data.reduce((total, { byteLength }) => total + byteLength, 0);
    const done = await link.request(message, [message.block, ...data]);
    member.memoryBytes = done.memoryBytes;
    if (done.status === TRAPPED) {
      // After a trap the state of its instance is unknown.
      link.terminate(done.message);
      throw new WorkerLost(done.message);
    }
    for (const id of done.refused) stored.delete(id);
    throwOutcome(done, operation);
    return done.outputs;
  }

  /** Tells the workers to free buffers, by their numbers. */
  drop(buffers: readonly number[]): void {
    for (const { link, stored } of this.members) {
      const ids = buffers.filter((id) => stored.delete(id));
      if (ids.length > 0) link.tell({ kind: "forget", ids });
    }
  }

  async #replace(late: Member): Promise<void> {
    this.members = this.members.filter((one) => one !== late);
    this.#ended += 1;
    late.link.terminate("its call was aborted");
    await this.#start(1);
    this.#ended -= 1;
    this.#continue();
  }

  /** Continues with the workers that are left. */
  #continue(): void {
    for (const queue of this.#queues) this.#stopIfLost(queue);
    this.#sendNext();
  }

  #stopIfLost(queue: ShardQueue): void {
    const lost = this.lost ?? queue.only?.lost;
    if (lost) queue.stop(this.#reasonOf(lost, queue));
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
          else
            this.members = [
              ...this.members,
              { link, inFlight: [], stored: new Map(), tenants: new Set(), memoryBytes: 0 },
            ];
        } catch (error) {
          this.#lost = error instanceof WorkerLost ? error : new WorkerLost(causeText(error));
          this.#missing.push(`a worker did not start (${causeText(error)})`);
        }
      }),
    );
  }

  #lose(link: WorkerLink, lost: WorkerLost): void {
    const before = this.members.length;
    this.members = this.members.filter((one) => one.link !== link);
    if (this.members.length === before || this.#disposed) return;
    this.#lost = lost;
    this.#missing.push(`a worker was lost (${lost.message})`);
    this.#continue();
  }
}

/** Results that are not residents are arrays. */
function finishedOf(results: ReadonlyMap<OutputPart, Float32Array>): Finished {
  const array = (part: OutputPart): Float32Array => results.get(part) ?? new Float32Array(0);
  return { view: array, array, release: () => {} };
}
