// The numbers of parameters in a format of weights. Parameters that are loaded from the same tensor are tied: they share what is packed.

import type { Computed, CoreOperation, Resident, RootBackend } from "../backends/backend.js";
import { NARROW_PANEL } from "../backends/wasm/generated/operation-calls.js";
import { HeedError } from "../base/errors.js";
import { bytesIn } from "../memory/heap-view.js";
import type { MatrixSizes } from "../operations/affine.js";
import { NARROW_GATHER, type NarrowGatherProblem } from "../operations/narrow/narrow-gather.js";
import { PACK_NARROW } from "../operations/narrow/pack-narrow.js";
import { type NarrowFormat, panelsOf } from "../operations/narrow/weights.js";
import { collectSoon } from "./collect-soon.js";
import { type AnyTensor, bytesOf, floatsOf, formatOf, rowsOf, stored } from "./formats/stored.js";
import { NARROW } from "./formats/table.js";

/** Whoever has these numbers, or uses what is packed of them. Weak, because a layer that nobody disposes of goes all the same. */
type User = WeakRef<object>;

/** A resident that is on its way, or there. */
interface Upload {
  readonly making: Promise<Resident>;
  resident: Resident | null;
  readonly users: Set<User>;
}

/** So many bytes are packed at a time, so that a matrix is nowhere twice. */
const PIECE = 2 ** 23;

/** So many numbers are read back at a time. */
const READ_PIECE = 2 ** 21;

/** On the calling thread. It fails where the engine has left the module of stored weights. */
const GATHER_NOW: CoreOperation<NarrowGatherProblem> = { ...NARROW_GATHER, module: "core" };

/** The bytes that matrices take in an engine. */
export function packedBytes(format: NarrowFormat, { count, outputs, inputs }: MatrixSizes): number {
  return count * panelsOf(outputs) * inputs * NARROW[format].panelBytes;
}

export class StoredNumbers {
  readonly format: NarrowFormat;
  readonly #sizes: MatrixSizes;
  /** What was given, in whatever format, until an engine has it. */
  #source: AnyTensor | null;
  /** Its rows as they arrive, until an engine takes them. All pieces but the last have a multiple of NARROW_PANEL rows. */
  #arriving: AsyncIterable<AnyTensor> | null;
  /** What an engine had packed, where no engine has it any more, and that engine. */
  #left: { readonly bytes: Uint8Array<ArrayBuffer>; readonly root: WeakRef<RootBackend> } | null = null;
  readonly #keepers = new Set<User>();
  readonly #uploads = new Map<RootBackend, Upload>();

  /** `sizes` are those of the matrices that are stacked along the first axis. */
  constructor(source: AnyTensor | AsyncIterable<AnyTensor>, format: NarrowFormat, sizes: MatrixSizes) {
    [this.#source, this.#arriving] = "data" in source ? [source, null] : [null, source];
    this.format = format;
    this.#sizes = sizes;
  }

  /** The bytes that it takes in an engine. */
  get packedBytes(): number {
    return packedBytes(this.format, this.#sizes);
  }

  join(keeper: User): void {
    this.#keepers.add(keeper);
  }

  leave(keeper: User): void {
    this.#keepers.delete(keeper);
  }

  /** The packed matrices in the memory of an engine, where they stay until nobody uses them. */
  async residentIn(root: RootBackend, user: User, where: string): Promise<Resident> {
    const upload = this.#uploads.get(root) ?? { making: this.#upload(root, where), resident: null, users: new Set() };
    this.#uploads.set(root, upload);
    upload.users.add(user);
    try {
      upload.resident = await upload.making;
      if (this.#uploads.get(root) === upload) this.#settle();
      return upload.resident;
    } catch (error) {
      if (this.#uploads.get(root) === upload) this.#uploads.delete(root);
      throw error;
    }
  }

  /** Ends the use of what is packed. `then` is told each engine whose memory it was in. */
  free(user: User, then?: (root: RootBackend) => void): void {
    for (const [root, upload] of this.#uploads) {
      if (!upload.users.delete(user) || upload.users.size > 0) continue;
      this.#uploads.delete(root);
      const free = (resident: Resident): void => {
        root.free(resident);
        then?.(root);
      };
      if (upload.resident === null) upload.making.then(free, () => {});
      else {
        this.#keepLeft(root, upload.resident);
        free(upload.resident);
      }
    }
  }

  /** All numbers in f32, on the calling thread. `where` names the parameter. */
  read(where: string): Float32Array {
    if (this.#source !== null) return this.#sourceFloats(where, this.#source);
    const there = this.#there();
    if (there === null) throw this.#elsewhere(where);
    const [root, resident] = there;
    const read = new Float32Array(this.#elements);
    try {
      for (const problem of this.#gathers(resident))
        this.#take(read, problem, root.runSync(GATHER_NOW, problem.problem));
    } catch {
      throw this.#elsewhere(where);
    }
    return read;
  }

  /** The same, as soon as an engine has computed them. */
  async readSoon(where: string): Promise<Float32Array> {
    if (this.#source !== null) return this.#sourceFloats(where, this.#source);
    const there = this.#there();
    const root = there?.[0] ?? this.#left?.root.deref();
    if (root === undefined) throw lost(where);
    const resident = there?.[1] ?? (await this.#upload(root, where));
    const read = new Float32Array(this.#elements);
    try {
      for (const piece of this.#gathers(resident)) {
        this.#take(read, piece, await root.run(NARROW_GATHER, piece.problem, null));
      }
    } finally {
      if (there === null) root.free(resident);
    }
    return read;
  }

  get #elements(): number {
    const { count, outputs, inputs } = this.#sizes;
    return count * outputs * inputs;
  }

  /** An engine that has it. */
  #there(): readonly [RootBackend, Resident] | null {
    for (const [root, { resident }] of this.#uploads) if (resident?.live) return [root, resident];
    return null;
  }

  /** Gives up what was given. */
  #settle(): void {
    if (this.#source !== null) collectSoon(this.#source.data.byteLength);
    this.#source = null;
    this.#left = null;
  }

  /** Keeps what is going to be freed, if it is needed and nowhere else. */
  #keepLeft(root: RootBackend, resident: Resident): void {
    const isNeeded = [...this.#keepers].some((keeper) => keeper.deref() !== undefined);
    if (!isNeeded || !resident.live || this.#source !== null || this.#left !== null || this.#there() !== null) return;
    this.#left = { bytes: root.bytesOf("heed/layers", resident).slice(), root: new WeakRef(root) };
  }

  async #upload(root: RootBackend, where: string): Promise<Resident> {
    const there = this.#there();
    const packed = this.#left?.bytes ?? there?.[0].bytesOf(where, there[1]);
    if (packed !== undefined) return root.upload(new Float32Array(packed.buffer, packed.byteOffset, packed.length / 4));
    const pieces = this.#source === null ? this.#arriving : this.#piecesOf(this.#source);
    this.#arriving = null;
    if (pieces === null) throw lost(where);
    const resident = root.zeros(this.packedBytes / 4, "f32", false);
    try {
      await this.#pack(root, resident, pieces);
    } catch (error) {
      root.free(resident);
      throw error;
    }
    return resident;
  }

  /** Each is packed while the next one is read. */
  async #pack(
    root: RootBackend,
    packed: Resident,
    pieces: Iterable<AnyTensor> | AsyncIterable<AnyTensor>,
  ): Promise<void> {
    const { format } = this;
    const { count, outputs, inputs } = this.#sizes;
    let from = 0;
    let packing: Promise<unknown> | null = null;
    for await (const piece of pieces) {
      const areFloats = formatOf(piece) !== format;
      const stored = wordsOf(areFloats ? floatsOf(piece) : piece);
      const rowBytes = bytesOf(areFloats ? "f32" : format, inputs);
      const [rows = 0] = piece.shape;
      const firstOutput = Math.floor(from / outputs) * panelsOf(outputs) * NARROW_PANEL + (from % outputs);
      const problem = { format, stored, areFloats, rowBytes, packed, outputs: rows, inputs, firstOutput };
      await packing;
      packing = root.run(PACK_NARROW, problem, null);
      // Whoever awaits it is told of its error.
      packing.catch(() => {});
      from += rows;
    }
    await packing;
    if (from !== count * outputs) throw new TypeError(`${from} rows came of ${count * outputs}`);
  }

  /** Rows of what was given, none of them of two matrices. */
  *#piecesOf(source: AnyTensor): Generator<AnyTensor, void, undefined> {
    const { count, outputs, inputs } = this.#sizes;
    const rowBytes = bytesOf(formatOf(source) === this.format ? this.format : "f32", inputs);
    const step = Math.max(1, Math.floor(PIECE / rowBytes / NARROW_PANEL)) * NARROW_PANEL;
    for (let matrix = 0; matrix < count; matrix++) {
      for (let first = 0; first < outputs; first += step) {
        const from = matrix * outputs + first;
        yield rowsOf(source, from, from + Math.min(step, outputs - first));
      }
    }
  }

  #sourceFloats(where: string, source: AnyTensor): Float32Array {
    return floatsOf(stored(where, source, this.format)).data;
  }

  /** Calls that read the rows of all matrices, some at a time, with the first number of each. */
  *#gathers(resident: Resident): Generator<{ readonly at: number; readonly problem: NarrowGatherProblem }> {
    const { count, outputs, inputs } = this.#sizes;
    const padded = panelsOf(outputs) * NARROW_PANEL;
    const step = Math.max(1, Math.floor(READ_PIECE / inputs));
    const all = { table: { resident, format: this.format }, count: count * padded, length: inputs, keep: false };
    for (let first = 0; first < count * outputs; first += step) {
      const indices = Int32Array.from({ length: Math.min(step, count * outputs - first) }, (_, at) => {
        const row = first + at;
        return Math.floor(row / outputs) * padded + (row % outputs);
      });
      yield { at: first * inputs, problem: { ...all, indices } };
    }
  }

  #take(read: Float32Array, { at }: { readonly at: number }, [rows]: readonly Computed[]): void {
    if (rows?.kind !== "array") throw new TypeError("rows that are read are arrays");
    read.set(rows.array, at);
  }

  /** Of numbers that cannot be had at once. */
  #elsewhere(where: string): HeedError {
    if (this.#there() === null && this.#left === null) return lost(where);
    return new HeedError(
      "option",
      `${where} is ${this.format}, and an engine has to widen it: read it by readParameters`,
    );
  }
}

function lost(where: string): HeedError {
  return new HeedError("disposed", `${where} was in the memory of an engine that is disposed of`);
}

/** The bytes of rows, as words. */
function wordsOf({ data }: AnyTensor): Float32Array {
  const { buffer, byteOffset, byteLength } = data;
  if (byteOffset % 4 === 0 && byteLength % 4 === 0) return new Float32Array(buffer, byteOffset, byteLength / 4);
  const words = new Float32Array(Math.ceil(byteLength / 4));
  bytesIn(words).set(bytesIn(data));
  return words;
}
