// A job as shards, each computed by one worker with its own memory: what a shard is sent, and where its results go. What runs them
// is in private-runner.ts.

import type { Cut } from "../cut.js";
import { arrayBufferOf, type BufferPart, type CachedBuffer, type ResidentBuffers } from "./cached-buffers.js";
import { CallBlock, roomFor } from "./call-block.js";
import { aligned, type InputPart, type Job, type OutputPart, type ResidentPart } from "./job.js";
import { elementBytes, elementsOf, isPresent, makeDense, scatter, spanOf } from "./packed-views.js";
import type { BlockMessage } from "./protocol.js";
import { type Slice, sliceCall } from "./slices.js";
import type { WorkerLink } from "./worker-link.js";

/** A message without its buffers. */
type Message = Omit<BlockMessage, "buffers">;

/** The memory of a result that becomes a resident. */
type ResidentOf = (part: OutputPart) => Float32Array | undefined;

export interface Shard {
  /** Shards of one affinity read the same inputs, so one worker should compute them. */
  readonly affinity: number;
  /** The only worker that may compute it, because no other has what it reads; absent: any. */
  readonly only?: WorkerLink;
  readonly buffers: ReadonlySet<CachedBuffer>;
  /** Asked for when it is sent. */
  message(): Message;
  /** Takes the results, in the message's order. */
  take(outputs: readonly ArrayBuffer[]): void;
}

/** The job with one shard a slice. The constructor reads the caller's arrays. */
export class ShardedJob {
  readonly shards: readonly Shard[];
  /** Of outputs that are not residents. */
  readonly results = new Map<OutputPart, Float32Array>();
  readonly #job: Job;
  readonly #residents: ResidentBuffers;
  readonly #residentOf: ResidentOf;
  /** The word of the call at which its table begins. */
  readonly #table: number;
  readonly #copies = new Map<string, CachedBuffer>();

  constructor(job: Job, cut: Cut, slices: readonly Slice[], residents: ResidentBuffers, residentOf: ResidentOf) {
    this.#job = job;
    this.#residents = residents;
    this.#residentOf = residentOf;
    const table = job.inputs.find(({ of }) => of === "table");
    this.#table = (table?.offset ?? Infinity) / Int32Array.BYTES_PER_ELEMENT;
    const isWhole = slices.length === 1;
    if (!isWhole) {
      roomFor(job.operation, job.bytes - job.inputBytes, () => {
        for (const part of job.outputs)
          if (part.to !== "resident") this.results.set(part, new Float32Array(part.elements));
      });
    }
    const affinities = affinitiesOf(cut, slices);
    this.shards = slices.map((slice, index) => {
      return { affinity: affinities[index] ?? 0, ...this.#shardOf(cut, slice, isWhole) };
    });
  }

  /** The numbers of buffers of the caller's arrays, which workers drop when the call is over. */
  get ownBuffers(): readonly number[] {
    return [...this.#copies.values()].map(({ id }) => id);
  }

  /** The arrays of a whole call travel inside the block, and those of the worker are its results. */
  #shardOf(cut: Cut, slice: Slice, isWhole: boolean): Pick<Shard, "buffers" | "message" | "take"> {
    const { operation, call, inputs, residents, outputs } = this.#job;
    const sliced = isWhole ? call : sliceCall(this.#job, cut, call, slice);
    const isInline = ({ of }: InputPart): boolean => isWhole || of !== "view";
    const views = [...inputs.filter((part) => !isInline(part)), ...residents.filter(({ word }) => word < this.#table)];
    const own = outputs.filter(({ word }) => isWhole || isPresent(sliced, word));
    const parts = [...views.map((part) => this.#viewPart(sliced, part)), ...this.#tableParts(cut, slice)];
    const pack = (): Message => packBlock(operation, sliced, inputs.filter(isInline), parts, own, isWhole);
    const message = isWhole ? pack() : null;
    return {
      buffers: new Set(parts.map(({ buffer }) => buffer)),
      message: () => message ?? pack(),
      take: (arrays) => {
        for (const [index, part] of own.entries()) {
          const from = new Float32Array(arrays[index] ?? new ArrayBuffer(0));
          const to = this.#residentOf(part) ?? this.results.get(part);
          if (to === undefined) this.results.set(part, from);
          else if (isWhole) to.set(from);
          else scatter(sliced, call, part.word, from, to);
        }
      },
    };
  }

  /** What the slice reads of the table's residents: some bytes of some of them. */
  #tableParts({ axes }: Cut, slice: Slice): readonly BufferPart[] {
    const table = this.#job.residents.filter(({ word }) => word >= this.#table);
    let [first, end, from, to] = [0, table.length, 0, Infinity];
    for (const [index, { entries, entryBytes }] of axes.entries()) {
      const { begin, end: past } = slice[index] ?? { begin: 0, end: Infinity };
      if (entries) [first, end] = [begin * entries, past * entries];
      if (entryBytes) [from, to] = [begin * entryBytes, past * entryBytes];
    }
    return table.slice(first, end).map(({ word, resident }) => {
      const buffer = this.#residents.of(resident, from, Math.min(to, resident.bytes) - from);
      return { word, buffer, offset: -from };
    });
  }

  /** A dense view is sent alone. One whose numbers are interleaved with those of other slices shares a buffer of the whole operand with them. */
  #viewPart(sliced: Int32Array, part: InputPart | ResidentPart): BufferPart {
    const { word } = part;
    const from = sliced[word] ?? 0;
    const span = spanOf(sliced, word);
    const isDense = span <= 2 * elementsOf(sliced, word);
    const start = isDense ? from : 0;
    const length = isDense
      ? span * elementBytes(this.#job, word)
      : "bytes" in part
        ? part.bytes.length
        : part.resident.bytes;
    const buffer =
      "bytes" in part ? this.#copy(word, part.bytes, start, length) : this.#residents.of(part.resident, start, length);
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

/** Slices that read the same large operands get one affinity. Where all slices do, each gets its own. */
function affinitiesOf({ axes }: Cut, slices: readonly Slice[]): readonly number[] {
  const known = new Map<string, number>();
  const shared = slices.map((slice) => {
    const key = slice.map(({ begin }, index) => (axes[index]?.shares ? "" : begin)).join();
    const affinity = known.get(key) ?? known.size;
    known.set(key, affinity);
    return affinity;
  });
  return known.size === 1 ? slices.map((_, index) => index) : shared;
}

/** A block with a slice's call, the arrays that it has whole, and room for its results. */
function packBlock(
  operation: string,
  sliced: Int32Array<ArrayBuffer>,
  inline: readonly InputPart[],
  buffers: readonly BufferPart[],
  outputs: readonly OutputPart[],
  isWhole: boolean,
): Message {
  const call = sliced.slice();
  const results = outputs.map(({ word, elements }) => {
    return [word, (isWhole ? elements : makeDense(call, word)) * Float32Array.BYTES_PER_ELEMENT] as const;
  });
  const room = inline.reduce((sum, { bytes }) => sum + aligned(bytes.length), aligned(call.byteLength));
  const block = new CallBlock(operation, room);
  return block.message(block.call(call, inline, buffers, results));
}
