// The front instance: Emscripten's module on the calling thread, its heap, and the calls that it computes on this thread.

import { causeText, HeedError, type HeedErrorCode } from "../../base/errors.js";
import { Arena, allocate, type Block } from "../../memory/arena.js";
import { bytesIn, copied, HeapView } from "../../memory/heap-view.js";
import { ATTENTION_CALL } from "./generated/attention-call.js";
import { type Job, type OutputPart, writeCall, writeInputs } from "./job.js";
import type { ResultArrays } from "./result-arrays.js";
import type { FrontModule } from "./variants.js";

/** The word of any call that aborts it: C++ polls whether it is nonzero. */
const STOP_WORD = ATTENTION_CALL.stop;

/** Error codes by the status that C++ returns. */
const CODES: readonly (HeedErrorCode | null)[] = [null, "shape", "option", "memory", "unsupported", "aborted"];

/** Throws a status from C++ as a HeedError; 0 is success. */
export function throwStatus(status: number, message: string): void {
  if (status === 0) return;
  throw new HeedError(CODES[status] ?? "unsupported", message);
}

/** The outputs of a finished job. A view is valid until the next allocation; `release` frees the block. */
export interface Finished {
  view(part: OutputPart): Float32Array;
  /** A copy, which the caller owns. */
  array(part: OutputPart): Float32Array;
  release(): void;
}

export class Kernels {
  readonly compiled: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly heap: HeapView;
  readonly arena: Arena;
  readonly #raw: FrontModule;
  #abandoned = false;

  constructor(raw: FrontModule, compiled: WebAssembly.Module, memory: WebAssembly.Memory) {
    this.compiled = compiled;
    this.memory = memory;
    this.heap = new HeapView(memory);
    this.arena = new Arena(this);
    this.#raw = raw;
  }

  /** Writes the job to a block of the heap. */
  write(job: Job, block = this.arena.take(job.bytes)): Block {
    writeCall(job, this.heap.words(block.address, job.call.length), block.address);
    if (job.inputs.length > 0) writeInputs(job, this.heap.bytes(block.address, job.inputBytes));
    return block;
  }

  /** Computes a job on this thread. */
  compute(job: Job): Finished {
    this.#assertUsable();
    const block = this.write(job);
    try {
      this.#run(block, job.operation);
    } catch (error) {
      this.arena.give(block);
      throw error;
    }
    return this.finished(block);
  }

  /** A copy of the call in a block, with its addresses. */
  callIn(block: Block, { call }: Job): Int32Array {
    return this.heap.words(block.address, call.length).slice();
  }

  /** Computes a slice of the job in a block, on this thread. */
  computeIn(block: Block, call: Int32Array, operation: string): void {
    this.#assertUsable();
    this.heap.words(block.address, call.length).set(call);
    this.#run(block, operation);
  }

  /** The outputs of a computed block. */
  finished(block: Block, arrays?: ResultArrays): Finished {
    const view = (part: OutputPart): Float32Array => this.heap.floats(block.address + part.offset, part.elements);
    return {
      view,
      array: (part) => arrays?.fill(part, view(part)) ?? copied(view(part)),
      release: () => this.arena.give(block),
    };
  }

  /** Aborts the call in this block, whichever thread computes it. */
  stop(block: Pick<Block, "address">): void {
    Atomics.store(this.heap.words(block.address, 1), STOP_WORD, 1);
  }

  /** Posts a call to a worker of the pool, whose mailbox must be empty. */
  post(worker: number, address: number, workers: number): void {
    this.#raw._heed_post?.(worker, address, workers);
  }

  /** The address of a worker's mailbox. */
  mailboxOf(worker: number): number {
    return (this.#raw._heed_mailbox?.(worker) ?? 0) >>> 0;
  }

  /** Tells C++ that a helper is lost, so that no call waits for its task. */
  lose(worker: number): void {
    this.#raw._heed_lose?.(worker);
  }

  /** Marks the instance as unusable: it trapped, or a worker was lost in a call and may have held the allocator's lock. */
  abandon(): void {
    this.#abandoned = true;
  }

  get abandoned(): boolean {
    return this.#abandoned;
  }

  /** Copies bytes into a new allocation. `source` is called after allocating, because growth detaches older views. */
  upload(bytes: number, source: () => ArrayBufferView): number {
    const address = this.allocate(bytes);
    this.heap.bytes(address, bytes).set(bytesIn(source()));
    return address;
  }

  release(address: number): void {
    if (!this.#abandoned) this.#raw.release(address);
  }

  /** Allocates memory, 64-byte aligned, that the caller releases by address. */
  allocate(bytes: number): number {
    this.#assertUsable();
    return allocate(this.#raw, Math.max(1, bytes));
  }

  #assertUsable(): void {
    if (this.#abandoned)
      throw new HeedError("device-lost", "heed: the engine's instance is lost; the next async call makes another");
  }

  #run(block: Block, operation: string): void {
    const status = this.#call(block.address, operation);
    if (status !== 0) throwStatus(status, this.heap.text(this.#raw.statusMessage() >>> 0));
  }

  /** Turns a trap, a RuntimeError, into a HeedError. */
  #call(address: number, operation: string): number {
    try {
      return this.#raw.run(address);
    } catch (cause) {
      // After a trap the stack pointer is not restored, and the state of the memory is unknown.
      this.abandon();
      throw new HeedError("memory", `${operation}: the kernel trapped: ${causeText(cause)}`, { cause });
    }
  }
}
