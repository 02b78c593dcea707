// The calls of a program on shared memory. A worker runs a list of them in order, and takes what is appended meanwhile.

import type { Block } from "../../memory/arena.js";
import { Batch, BatchedCalls } from "./batched-calls.js";
import type { Compute } from "./calls.js";
import { CALL_LIST, OPERATION, PROGRAM_CALL } from "./generated/program-call.js";
import { type Job, JobBuilder } from "./job.js";
import type { Kernels } from "./kernels.js";

/** The most calls in a list. */
const ROOM = CALL_LIST.words - CALL_LIST.calls;

/** Calls are written to chunks of the heap, one behind the other. */
const CHUNK_BYTES = 2 ** 16;

/** Calls by the addresses where they were written. */
class Listed extends Batch {
  readonly addresses: number[] = [];
}

export class CallList extends BatchedCalls<Listed> {
  readonly #kernels: Kernels;
  readonly #list: number;
  /** In the list that is computed, or was the last. */
  #listed = this.empty();
  readonly #chunks: Block[] = [];
  /** Where the next call is written: a chunk, and the bytes of it that are taken. */
  #chunk = 0;
  #taken = 0;

  constructor(kernels: Kernels, compute: Compute) {
    super(compute, ROOM);
    this.#kernels = kernels;
    this.#list = kernels.allocate(CALL_LIST.words * Int32Array.BYTES_PER_ELEMENT);
  }

  add(job: Job, multiplications: number): void {
    const { address } = this.#kernels.write(job, this.#room(job.bytes));
    const isAppended = this.#append(address, multiplications);
    const batch = isAppended ? this.#listed : this.batchFor(multiplications);
    batch.addresses.push(address);
    batch.add(multiplications);
    if (!isAppended) this.handOn();
  }

  override async settled(): Promise<void> {
    await super.settled();
    this.#chunk = this.#taken = 0;
  }

  override stop(): void {
    super.stop();
    if (this.running !== null) for (const address of this.#listed.addresses) this.#kernels.stop({ address });
  }

  dispose(): void {
    this.#kernels.release(this.#list);
    for (const { address } of this.#chunks) this.#kernels.release(address);
  }

  protected empty(): Listed {
    return new Listed();
  }

  protected jobOf(batch: Listed): Job {
    this.#listed = batch;
    const words = this.#words();
    words.set(batch.addresses, CALL_LIST.calls);
    words[CALL_LIST.appended] = batch.count;
    const builder = new JobBuilder("heed/layers", new Int32Array(PROGRAM_CALL.words));
    builder.integer(PROGRAM_CALL.operation, OPERATION.program);
    builder.integer(PROGRAM_CALL.list, this.#list);
    return builder.build();
  }

  /** Fails where nothing is computed, or the worker has left the list. */
  #append(address: number, multiplications: number): boolean {
    if (this.running === null || this.waiting.length > 0 || !this.#listed.hasRoomFor(multiplications, ROOM))
      return false;
    const at = this.#listed.count;
    const words = this.#words();
    words[CALL_LIST.calls + at] = address;
    return Atomics.compareExchange(words, CALL_LIST.appended, at, at + 1) === at;
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
