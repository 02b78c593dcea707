// A job as portions that workers with memories of their own compute: what each is sent, and where its results go. No worker is
// known here: see private-runner.ts.

import { HeedError } from "../../api/errors.js";
import type { Span } from "../backend.js";
import { ATTENTION_CALL } from "./generated/attention-call.js";
import { aligned, type InputPart, type Job, type OutputPart, relativeWords, writeCall, writeInputs } from "./job.js";
import type { Kernels } from "./kernels.js";
import type { BlockMessage, Patch, PieceUse } from "./protocol.js";
import type { WasmResident } from "./residents.js";
import {
  elementBytes,
  elementsOf,
  INPUT_VIEWS,
  isPresent,
  pageSpan,
  placeDensely,
  type Slice,
  scatter,
  sliceCall,
  spanOf,
} from "./slices.js";

/** Bytes that a worker is sent once and keeps: of a tensor until that is freed, of a call until it is over. */
export interface Piece {
  readonly id: number;
  readonly ofResident: boolean;
  /** How often some of its bytes changed. */
  readonly version: number;
  /** What changed after a version, as it is now. */
  changes(since: number): readonly Patch[];
  /** A copy to send; `isLast` when nobody will ask again. */
  bytes(isLast: boolean): ArrayBuffer;
}

/** A piece and where in it a view starts. */
interface PiecePart {
  readonly word: number;
  readonly piece: Piece;
  readonly offset: number;
}

export interface Portion {
  /** Portions of one home share inputs: one worker should compute them. */
  readonly home: number;
  readonly pieces: readonly PiecePart[];
  /** Without its pieces' bytes. */
  message(): Omit<BlockMessage, "pieces">;
  /** Takes the results, in the message's order. */
  take(outputs: readonly ArrayBuffer[]): void;
}

/** What is in pages where the job has any. */
const PAGED_VIEWS: ReadonlySet<number> = new Set([ATTENTION_CALL.key, ATTENTION_CALL.value]);

/** Where the table of pages is in a call, in bytes. */
const TABLE = ATTENTION_CALL.words * Int32Array.BYTES_PER_ELEMENT;

let lastPiece = 0;

/** Changes beyond so many are not told one by one: the piece is sent again. */
const MOST_CHANGES = 4096;

/** Some bytes of a tensor. */
class ResidentPiece implements Piece {
  readonly id = ++lastPiece;
  readonly ofResident = true;
  /** Spans of the resident, each with the last version that it made: tiles change again and again. */
  readonly #changes = new Map<string, readonly [version: number, span: Span]>();
  readonly #read: (span: Span) => ArrayBuffer;
  readonly #span: Span;
  #version = 0;

  constructor(span: Span, read: (span: Span) => ArrayBuffer) {
    this.#span = span;
    this.#read = read;
  }

  get version(): number {
    return this.#version;
  }

  bytes(): ArrayBuffer {
    return this.#read(this.#span);
  }

  /** False when it has changed too often to be told. */
  change(spans: readonly Span[]): boolean {
    const { from, bytes } = this.#span;
    this.#version += 1;
    const own = spans.filter((span) => span.from >= from && span.from < from + bytes);
    for (const span of own) this.#changes.set(`${span.from}+${span.bytes}`, [this.#version, span]);
    return this.#changes.size <= MOST_CHANGES;
  }

  changes(since: number): readonly Patch[] {
    return [...this.#changes.values()]
      .filter(([version]) => version > since)
      .map(([, span]): Patch => [span.from - this.#span.from, this.#read(span)]);
  }
}

/** Pieces of tensors by the bytes that they are of, so that later calls find them where they were sent. */
export class ResidentPieces {
  readonly #kernels: Kernels;
  readonly #known = new Map<number, Map<string, ResidentPiece>>();

  constructor(kernels: Kernels) {
    this.#kernels = kernels;
  }

  of(resident: WasmResident, from: number, length: number): Piece {
    const known = this.#known.get(resident.id) ?? new Map<string, ResidentPiece>();
    this.#known.set(resident.id, known);
    const key = `${from}+${length}`;
    const read = (span: Span): ArrayBuffer =>
      new Uint8Array(this.#kernels.heap.bytes(resident.address + span.from, span.bytes)).buffer;
    const piece = known.get(key) ?? new ResidentPiece({ from, bytes: length }, read);
    known.set(key, piece);
    return piece;
  }

  /** Some bytes of the tensor are others. Returns its pieces that workers had better be sent again. */
  change(resident: WasmResident, spans: readonly Span[]): readonly Piece[] {
    const known = [...(this.#known.get(resident.id) ?? [])];
    const stale = known.filter(([, piece]) => !piece.change(spans));
    for (const [key] of stale) this.#known.get(resident.id)?.delete(key);
    return stale.map(([, piece]) => piece);
  }

  /** The tensor was freed. Returns its pieces, which workers may hold. */
  forget(resident: WasmResident): readonly Piece[] {
    const known = this.#known.get(resident.id);
    this.#known.delete(resident.id);
    return known === undefined ? [] : [...known.values()];
  }
}

/** The job in one portion: its arrays travel with it, and its results are those of the worker. */
export class WholePortion implements Portion {
  readonly home = 0;
  readonly pieces: readonly PiecePart[];
  readonly #job: Job;
  readonly #block: ArrayBuffer;
  readonly #outputs: readonly OutputPart[];
  readonly results = new Map<OutputPart, Float32Array>();

  constructor(job: Job, residents: ResidentPieces) {
    this.#job = job;
    this.#outputs = job.outputs;
    this.#block = roomFor(job.operation, job.inputBytes, () => {
      const block = new ArrayBuffer(job.inputBytes);
      writeCall(job, new Int32Array(block, 0, job.call.length), 0);
      writeInputs(job, new Uint8Array(block));
      return block;
    });
    this.pieces = job.residents.map(({ word, resident }) => ({
      word,
      piece: residents.of(resident, 0, resident.bytes),
      offset: 0,
    }));
  }

  message(): Omit<BlockMessage, "pieces"> {
    return {
      kind: "block",
      block: this.#block,
      bytes: this.#job.bytes,
      relative: relativeWords(this.#job),
      outputs: this.#outputs.map(({ offset, elements }) => [offset, elements * Float32Array.BYTES_PER_ELEMENT]),
    };
  }

  take(outputs: readonly ArrayBuffer[]): void {
    for (const [index, part] of this.#outputs.entries()) {
      this.results.set(part, new Float32Array(outputs[index] ?? new ArrayBuffer(0)));
    }
  }
}

/** The job in a portion for each slice. The arrays are copied here and now. */
export class SlicedJob {
  readonly portions: readonly Portion[];
  readonly results: ReadonlyMap<OutputPart, Float32Array>;
  readonly #job: Job;
  readonly #residents: ResidentPieces;
  readonly #copies = new Map<string, Piece>();

  constructor(job: Job, slices: readonly Slice[], residents: ResidentPieces) {
    this.#job = job;
    this.#residents = residents;
    this.results = roomFor(job.operation, job.bytes - job.inputBytes, () => {
      return new Map(job.outputs.map((part) => [part, new Float32Array(part.elements)]));
    });
    const homes = homesOf(slices);
    this.portions = slices.map((slice, index) => this.#portionOf(slice, homes[index] ?? 0));
  }

  /** Pieces that are of no use once the call is over. */
  get ownPieces(): readonly Piece[] {
    return [...this.#copies.values()];
  }

  #portionOf(slice: Slice, home: number): Portion {
    const { call } = this.#job;
    const sliced = sliceCall(call, slice);
    const pages = this.#pageParts(slice);
    const isPiece = (word: number): boolean => isPresent(sliced, word) && (pages === null || !PAGED_VIEWS.has(word));
    const pieces = INPUT_VIEWS.filter(isPiece).map((word) => this.#piecePart(sliced, word));
    const numbers = this.#job.inputs.filter((part) => part.of === "numbers");
    const outputs = this.#job.outputs.filter((part) => isPresent(sliced, part.word));
    return {
      home,
      pieces: [...pieces, ...(pages ?? [])],
      message: () => packSlice(sliced, numbers, outputs),
      take: (arrays) => {
        for (const [index, part] of outputs.entries()) {
          const [from, to] = [arrays[index], this.results.get(part)];
          if (from !== undefined && to !== undefined) scatter(sliced, call, part.word, new Float32Array(from), to);
        }
      },
    };
  }

  /** Of the pages of the slice's batch entries, what its heads have of them. Null: the job has none. */
  #pageParts(slice: Slice): readonly PiecePart[] | null {
    const { call, inputs, residents } = this.#job;
    if (!inputs.some((part) => part.of === "pages")) return null;
    const perBatch = call[ATTENTION_CALL.pagesPerBatch] ?? 0;
    const [from, bytes] = pageSpan(call, slice);
    const first = ATTENTION_CALL.words + slice.batch.begin * perBatch;
    const end = ATTENTION_CALL.words + slice.batch.end * perBatch;
    return residents
      .filter(({ word }) => word >= first && word < end)
      .map(({ word, resident }) => ({ word, piece: this.#residents.of(resident, from, bytes), offset: -from }));
  }

  /** Where a view's numbers are in between those of other slices, all of the operand is one piece. */
  #piecePart(sliced: Int32Array, word: number): PiecePart {
    const { inputs, residents } = this.#job;
    const resident = residents.find((part) => part.word === word)?.resident;
    const array = inputs.find((part) => part.word === word)?.bytes ?? new Uint8Array(0);
    const from = sliced[word] ?? 0;
    const span = spanOf(sliced, word);
    const isDense = span <= 2 * elementsOf(sliced, word) * elementBytes(sliced, word);
    const start = isDense ? from : 0;
    const length = isDense ? span : (resident?.bytes ?? array.length);
    const piece =
      resident === undefined ? this.#copy(word, array, start, length) : this.#residents.of(resident, start, length);
    return { word, piece, offset: from - start };
  }

  #copy(word: number, array: Uint8Array, from: number, length: number): Piece {
    const key = `${word}:${from}+${length}`;
    const known = this.#copies.get(key);
    if (known !== undefined) return known;
    const { buffer } = roomFor(this.#job.operation, length, () => new Uint8Array(array.subarray(from, from + length)));
    const piece = {
      id: ++lastPiece,
      ofResident: false,
      version: 0,
      changes: () => [],
      bytes: (isLast: boolean): ArrayBuffer => (isLast ? buffer : buffer.slice(0)),
    };
    this.#copies.set(key, piece);
    return piece;
  }
}

/** Slices of the same keys have one home; where all have the same keys, each has its own. */
function homesOf(slices: readonly Slice[]): readonly number[] {
  const homes = new Map<string, number>();
  const byKeys = slices.map(({ batch, groups }) => {
    const keys = `${batch.begin},${groups.begin}`;
    const home = homes.get(keys) ?? homes.size;
    homes.set(keys, home);
    return home;
  });
  return homes.size === 1 ? slices.map((_, index) => index) : byKeys;
}

/** A slice's call, its numbers, and room for its results. */
function packSlice(
  sliced: Int32Array<ArrayBuffer>,
  numbers: readonly InputPart[],
  outputs: readonly OutputPart[],
): Omit<BlockMessage, "pieces"> {
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
  const placed = outputs.map(({ word }): readonly [number, number] => {
    const offset = end;
    const bytes = placeDensely(call, word, offset);
    relative.push(word);
    end = aligned(end + bytes);
    return [offset, bytes];
  });
  block.set(new Uint8Array(call.buffer));
  for (const { word, bytes } of numbers) block.set(bytes, call[word]);
  return { kind: "block", block: block.buffer, bytes: end, relative, outputs: placed };
}

/** What a portion asks of a worker's store, and the bytes that it lacks. */
export function piecesFor(
  portion: Portion,
  stored: ReadonlyMap<number, number>,
  isLast: (piece: Piece) => boolean,
): readonly PieceUse[] {
  const sent = new Map(stored);
  return portion.pieces.map(({ word, piece, offset }) => {
    const version = sent.get(piece.id);
    sent.set(piece.id, piece.version);
    const isNew = version === undefined;
    const data = isNew ? piece.bytes(isLast(piece)) : null;
    return { word, id: piece.id, offset, data, patches: isNew ? [] : piece.changes(version) };
  });
}

function roomFor<T>(operation: string, bytes: number, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw new HeedError("memory", `${operation}: no room for a copy of ${bytes} bytes`, { cause });
  }
}
