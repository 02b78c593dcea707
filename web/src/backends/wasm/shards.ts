// A job as shards, each computed by one worker with its own memory: what a shard is sent, and where its results go. What runs them
// is in private-runner.ts.

import { HeedError } from "../../api/errors.js";
import { arrayBufferOf, type BufferPart, type CachedBuffer, type ResidentBuffers } from "./cached-buffers.js";
import { ATTENTION_CALL } from "./generated/attention-call.js";
import { aligned, type InputPart, type Job, type OutputPart, writeCall, writeInputs } from "./job.js";
import type { BlockMessage } from "./protocol.js";
import {
  elementBytes,
  elementsOf,
  INPUT_VIEWS,
  isPresent,
  makeDense,
  pageSpan,
  type Slice,
  scatter,
  sliceCall,
  spanOf,
} from "./slices.js";

export interface Shard {
  /** Shards of one affinity read the same inputs, so one worker should compute them. */
  readonly affinity: number;
  readonly buffers: readonly BufferPart[];
  /** The message without its buffers. */
  message(): Omit<BlockMessage, "buffers">;
  /** Takes the results, in the message's order. */
  take(outputs: readonly ArrayBuffer[]): void;
}

/** The views that a job with a page table reads through it. */
const PAGED_VIEWS: ReadonlySet<number> = new Set([ATTENTION_CALL.key, ATTENTION_CALL.value]);

/** Byte offset of the page table in a call. */
const TABLE = ATTENTION_CALL.words * Int32Array.BYTES_PER_ELEMENT;

/** The whole job as one shard. Its arrays travel inside the block, and the worker's arrays are its results. */
export class WholeShard implements Shard {
  readonly affinity = 0;
  readonly buffers: readonly BufferPart[];
  readonly #job: Job;
  readonly #block: ArrayBuffer;
  /** In the worker's block, which has room for all of them. */
  readonly #outputs: readonly OutputPart[];
  readonly #bytes: number;
  readonly results = new Map<OutputPart, Float32Array>();

  constructor(job: Job, residents: ResidentBuffers) {
    this.#job = job;
    let end = job.inputBytes;
    this.#outputs = job.outputs.map((part) => {
      const offset = end;
      end = aligned(end + part.elements * Float32Array.BYTES_PER_ELEMENT);
      return { ...part, offset };
    });
    this.#bytes = end;
    this.#block = roomFor(job.operation, job.inputBytes, () => {
      const block = new ArrayBuffer(job.inputBytes);
      writeCall({ ...job, outputs: this.#outputs, made: new Map() }, new Int32Array(block, 0, job.call.length), 0);
      writeInputs(job, new Uint8Array(block));
      return block;
    });
    this.buffers = job.residents.map(({ word, resident }) => ({
      word,
      buffer: residents.of(resident, 0, resident.bytes),
      offset: 0,
    }));
  }

  message(): Omit<BlockMessage, "buffers"> {
    return {
      kind: "block",
      block: this.#block,
      bytes: this.#bytes,
      relative: [...this.#job.inputs, ...this.#outputs].map((part) => part.word),
      outputs: this.#outputs.map(({ offset, elements }) => [offset, elements * Float32Array.BYTES_PER_ELEMENT]),
    };
  }

  take(outputs: readonly ArrayBuffer[]): void {
    for (const [index, part] of this.#job.outputs.entries()) {
      this.results.set(part, new Float32Array(outputs[index] ?? new ArrayBuffer(0)));
    }
  }
}

/** The job with one shard a slice. The constructor copies the caller's arrays. */
export class ShardedJob {
  readonly shards: readonly Shard[];
  readonly results: ReadonlyMap<OutputPart, Float32Array>;
  readonly #job: Job;
  readonly #residents: ResidentBuffers;
  readonly #copies = new Map<string, CachedBuffer>();

  constructor(job: Job, slices: readonly Slice[], residents: ResidentBuffers) {
    this.#job = job;
    this.#residents = residents;
    this.results = roomFor(job.operation, job.bytes - job.inputBytes, () => {
      return new Map(job.outputs.map((part) => [part, new Float32Array(part.elements)]));
    });
    const affinities = affinitiesOf(slices);
    this.shards = slices.map((slice, index) => this.#shardOf(slice, affinities[index] ?? 0));
  }

  /** Buffers of the caller's arrays, which workers drop when the call is over. */
  get ownBuffers(): readonly CachedBuffer[] {
    return [...this.#copies.values()];
  }

  #shardOf(slice: Slice, affinity: number): Shard {
    const { call } = this.#job;
    const sliced = sliceCall(call, slice);
    const pages = this.#pageParts(slice);
    const isSent = (word: number): boolean => isPresent(sliced, word) && (pages === null || !PAGED_VIEWS.has(word));
    const views = INPUT_VIEWS.filter(isSent).map((word) => this.#viewPart(sliced, word));
    const numbers = this.#job.inputs.filter((part) => part.of === "numbers");
    const outputs = this.#job.outputs.filter((part) => isPresent(sliced, part.word));
    return {
      affinity,
      buffers: [...views, ...(pages ?? [])],
      message: () => packSlice(sliced, numbers, outputs),
      take: (arrays) => {
        for (const [index, part] of outputs.entries()) {
          const [from, to] = [arrays[index], this.results.get(part)];
          if (from !== undefined && to !== undefined) scatter(sliced, call, part.word, new Float32Array(from), to);
        }
      },
    };
  }

  /** From each page of the slice's batch entries, the bytes of the slice's heads. Null when the job has no page table. */
  #pageParts(slice: Slice): readonly BufferPart[] | null {
    const { call, inputs, residents } = this.#job;
    if (!inputs.some((part) => part.of === "pages")) return null;
    const perBatch = call[ATTENTION_CALL.pagesPerBatch] ?? 0;
    const [from, bytes] = pageSpan(call, slice);
    const first = ATTENTION_CALL.words + slice.batch.begin * perBatch;
    const end = ATTENTION_CALL.words + slice.batch.end * perBatch;
    return residents
      .filter(({ word }) => word >= first && word < end)
      .map(({ word, resident }) => ({ word, buffer: this.#residents.of(resident, from, bytes), offset: -from }));
  }

  /** A dense view is sent alone. One whose numbers are interleaved with those of other slices shares a buffer of the whole operand with them. */
  #viewPart(sliced: Int32Array, word: number): BufferPart {
    const { inputs, residents } = this.#job;
    const resident = residents.find((part) => part.word === word)?.resident;
    const array = inputs.find((part) => part.word === word)?.bytes ?? new Uint8Array(0);
    const from = sliced[word] ?? 0;
    const span = spanOf(sliced, word);
    const isDense = span <= 2 * elementsOf(sliced, word) * elementBytes(sliced, word);
    const start = isDense ? from : 0;
    const length = isDense ? span : (resident?.bytes ?? array.length);
    const buffer =
      resident === undefined ? this.#copy(word, array, start, length) : this.#residents.of(resident, start, length);
    return { word, buffer, offset: from - start };
  }

  #copy(word: number, array: Uint8Array, from: number, length: number): CachedBuffer {
    const key = `${word}:${from}+${length}`;
    const known = this.#copies.get(key);
    if (known !== undefined) return known;
    const copy = roomFor(this.#job.operation, length, () => new Uint8Array(array.subarray(from, from + length)));
    const buffer = arrayBufferOf(copy.buffer);
    this.#copies.set(key, buffer);
    return buffer;
  }
}

/** Slices that read the same keys get one affinity. Where all slices read the same keys, each gets its own. */
function affinitiesOf(slices: readonly Slice[]): readonly number[] {
  const known = new Map<string, number>();
  const byKeys = slices.map(({ batch, groups }) => {
    const keys = `${batch.begin},${groups.begin}`;
    const affinity = known.get(keys) ?? known.size;
    known.set(keys, affinity);
    return affinity;
  });
  return known.size === 1 ? slices.map((_, index) => index) : byKeys;
}

/** A block with a slice's call, its numbers, and room for its results. */
function packSlice(
  sliced: Int32Array<ArrayBuffer>,
  numbers: readonly InputPart[],
  outputs: readonly OutputPart[],
): Omit<BlockMessage, "buffers"> {
  const call = sliced.slice();
  const relative: number[] = [];
  if (call[ATTENTION_CALL.pageRows] !== 0) {
    call[ATTENTION_CALL.pages] = (call[ATTENTION_CALL.pages] ?? 0) + TABLE;
    relative.push(ATTENTION_CALL.pages);
  }
  let end = aligned(call.byteLength);
  for (const { word, bytes } of numbers) {
    call[word] = end;
    relative.push(word);
    end = aligned(end + bytes.length);
  }
  const block = new Uint8Array(end);
  const ranges = outputs.map(({ word }): readonly [number, number] => {
    const offset = end;
    const bytes = makeDense(call, word, offset);
    relative.push(word);
    end = aligned(end + bytes);
    return [offset, bytes];
  });
  block.set(new Uint8Array(call.buffer));
  for (const { word, bytes } of numbers) block.set(bytes, call[word]);
  return { kind: "block", block: block.buffer, bytes: end, relative, outputs: ranges };
}

function roomFor<T>(operation: string, bytes: number, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw new HeedError("memory", `${operation}: no room for a copy of ${bytes} bytes`, { cause });
  }
}
