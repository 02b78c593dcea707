// The calls of a program on shared memory. A worker runs a list of them in order, and takes what is appended meanwhile.

import type { Block } from "../../memory/arena.js";
import type { Calls, Compute } from "./calls.js";
import { isSmall } from "./cost.js";
import { CALL_LIST, OPERATION, PROGRAM_CALL } from "./generated/program-call.js";
import { type Job, JobBuilder } from "./job.js";
import type { Kernels } from "./kernels.js";

/** The most calls in a list. */
const ROOM = CALL_LIST.words - CALL_LIST.calls;

/** The most multiplications in a list, unless a single call has more: calls of others wait until a list is done. */
const MOST_WORK = 2 ** 30;

/** Calls are written to chunks of the heap, one behind the other. */
const CHUNK_BYTES = 2 ** 16;

/** A call where it was written. */
interface Written {
  readonly address: number;
  readonly multiplications: number;
}

/** Calls, and what they cost together. */
class Batch {
  readonly calls: Written[] = [];
  work = 0;

  get isSmall(): boolean {
    return isSmall(this.work, 0);
  }

  hasRoomFor({ multiplications }: Written): boolean {
    return this.calls.length === 0 || (this.calls.length < ROOM && this.work + multiplications <= MOST_WORK);
  }

  push(call: Written): void {
    this.calls.push(call);
    this.work += call.multiplications;
  }
}

export class CallList implements Calls {
  readonly #kernels: Kernels;
  readonly #compute: Compute;
  readonly #list: number;
  /** In the list that is computed, or was the last. */
  #listed = new Batch();
  /** Those that are in no list yet; in batches, of which the last is still open. */
  #waiting: Batch[] = [];
  #running: Promise<void> | null = null;
  readonly #chunks: Block[] = [];
  /** Where the next call is written: a chunk, and the bytes of it that are taken. */
  #chunk = 0;
  #taken = 0;

  constructor(kernels: Kernels, compute: Compute) {
    this.#kernels = kernels;
    this.#compute = compute;
    this.#list = kernels.allocate(CALL_LIST.words * Int32Array.BYTES_PER_ELEMENT);
  }

  add(job: Job, multiplications: number): void {
    const { address } = this.#kernels.write(job, this.#room(job.bytes));
    const call = { address, multiplications };
    if (this.#append(call)) return;
    const batch = this.#batchFor(call);
    batch.push(call);
    if (this.#running === null && !batch.isSmall) this.#start(batch);
  }

  forget(): void {}

  async settled(): Promise<void> {
    for (let batch = this.#waiting[0]; this.#running !== null || batch !== undefined; batch = this.#waiting[0]) {
      if (this.#running === null && batch !== undefined) this.#start(batch);
      await this.#running;
    }
    this.#chunk = this.#taken = 0;
  }

  stop(): void {
    this.#waiting = [];
    if (this.#running !== null) for (const call of this.#listed.calls) this.#kernels.stop(call);
  }

  dispose(): void {
    this.#kernels.release(this.#list);
    for (const { address } of this.#chunks) this.#kernels.release(address);
  }

  /** Fails where nothing is computed, or the worker has left the list. */
  #append(call: Written): boolean {
    if (this.#running === null || this.#waiting.length > 0 || !this.#listed.hasRoomFor(call)) return false;
    const at = this.#listed.calls.length;
    const words = this.#words();
    words[CALL_LIST.calls + at] = call.address;
    if (Atomics.compareExchange(words, CALL_LIST.appended, at, at + 1) !== at) return false;
    this.#listed.push(call);
    return true;
  }

  #batchFor(call: Written): Batch {
    const last = this.#waiting.at(-1);
    if (last?.hasRoomFor(call) === true) return last;
    const batch = new Batch();
    this.#waiting.push(batch);
    return batch;
  }

  /** Hands on the first batch that waits. */
  #start(batch: Batch): void {
    this.#waiting.shift();
    this.#listed = batch;
    const words = this.#words();
    for (const [at, { address }] of batch.calls.entries()) words[CALL_LIST.calls + at] = address;
    words[CALL_LIST.appended] = batch.calls.length;
    this.#running = this.#run(batch);
  }

  async #run(batch: Batch): Promise<void> {
    await this.#compute(this.#job(), batch.work);
    this.#running = null;
    const [next] = this.#waiting;
    if (next?.isSmall === false) this.#start(next);
  }

  /** The list as one call. */
  #job(): Job {
    const builder = new JobBuilder("heed/layers", new Int32Array(PROGRAM_CALL.words));
    builder.integer(PROGRAM_CALL.operation, OPERATION.program);
    builder.integer(PROGRAM_CALL.list, this.#list);
    return builder.build();
  }

  #words(): Int32Array {
    return this.#kernels.heap.words(this.#list, CALL_LIST.words);
  }

  #room(bytes: number): Block {
    for (let chunk = this.#chunks[this.#chunk]; chunk !== undefined; chunk = this.#chunks[this.#chunk]) {
      const address = chunk.address + this.#taken;
      this.#taken += bytes;
      if (this.#taken <= chunk.bytes) return { address, bytes };
      this.#chunk += 1;
      this.#taken = 0;
    }
    const size = Math.max(CHUNK_BYTES, bytes);
    this.#chunks.push({ address: this.#kernels.allocate(size), bytes: size });
    return this.#room(bytes);
  }
}
