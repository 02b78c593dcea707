// The pages of a KV cache, and a page table for each batch entry. Entries with a common past share pages, copy-on-write.

import type { Backend, Operand, Pages, Resident } from "../../backends/backend.js";
import { HeedError } from "../errors.js";
import type { PageLayout, PagePart } from "./page-layout.js";

interface Page {
  readonly resident: Resident;
  /** The number of page tables that it is in. */
  users: number;
}

type PageTables = readonly (readonly Page[])[];

/** Keys and values to be appended, in [batch, heads, length, dim]. */
export interface NewRows {
  readonly key: Operand;
  readonly value: Operand;
}

interface Snapshot {
  readonly tables: PageTables;
  readonly length: number;
  readonly start: number;
  /** These stay until the snapshot is dropped, even if no page table has them. */
  readonly pages: ReadonlySet<Page>;
}

/** The cache as it will be if the call that reads it succeeds. */
export interface Staged {
  readonly tables: PageTables;
  readonly length: number;
}

export class PageStore {
  readonly #backend: Backend;
  readonly #layout: PageLayout;
  /** How many of the last tokens a commit keeps; null keeps all. */
  readonly #keep: number | null;
  #tables: PageTables;
  #length = 0;
  #start = 0;
  #disposed = false;
  #snapshot: Snapshot | null = null;
  /** Whether everything that was written is finite. It is not looked at for f32, where this is false. */
  #areFinite: boolean;

  constructor(backend: Backend, layout: PageLayout, batch: number, keep: number | null) {
    this.#backend = backend;
    this.#layout = layout;
    this.#areFinite = layout.dtype !== "f32";
    this.#keep = keep;
    this.#tables = Array.from({ length: batch }, () => []);
  }

  get length(): number {
    return this.#length;
  }

  /** The first token that is still held. */
  get start(): number {
    return this.#start;
  }

  /** Writes rows behind those that are held, without counting them yet. If it throws a HeedError, nothing has changed. */
  stage(where: string, rows: NewRows): Staged {
    const count = rows.key.shape[2];
    const tables = this.#room(count);
    try {
      this.#write(where, tables, rows.key, this.#layout.keys);
      this.#write(where, tables, rows.value, this.#layout.values);
    } catch (error) {
      this.#release(tables);
      throw error;
    }
    return { tables, length: this.#length + count };
  }

  /** The page table of a staged cache, for a call that reads it. */
  pagesOf({ tables }: Staged): Pages {
    const { rows, keys, values } = this.#layout;
    return {
      pages: tables.flat().map(({ resident }) => resident),
      perBatch: tables[0]?.length ?? 0,
      rows,
      first: this.#start % rows,
      areFinite: this.#areFinite,
      keyScales: keys.scales,
      valueScales: values.scales,
    };
  }

  commit({ tables, length }: Staged): void {
    if (this.#disposed) {
      this.#release(tables);
      return;
    }
    const start = this.#keep === null ? 0 : Math.max(this.#start, length - this.#keep);
    const gone = this.#pageOf(start) - this.#pageOf(this.#start);
    this.#replace(tables.map((table) => table.slice(gone)));
    this.#release(tables);
    this.#length = length;
    this.#start = start;
  }

  rollBack({ tables }: Staged): void {
    this.#release(tables);
  }

  /** Remembers the cache as it is now. Later calls write behind its tokens only, so page tables and lengths are enough. */
  takeSnapshot(): void {
    this.#snapshot = {
      tables: this.#tables,
      length: this.#length,
      start: this.#start,
      pages: new Set(this.#tables.flat()),
    };
  }

  /** Unless `isKept`, the cache becomes what it was when the snapshot was taken. */
  dropSnapshot(isKept: boolean): void {
    const snapshot = this.#snapshot;
    if (snapshot === null) throw new TypeError("there is no snapshot to drop");
    this.#snapshot = null;
    if (!isKept && !this.#disposed) {
      this.#replace(snapshot.tables);
      this.#length = snapshot.length;
      this.#start = snapshot.start;
    }
    for (const page of snapshot.pages) if (page.users === 0) this.#backend.free(page.resident);
  }

  truncate(length: number): void {
    const pages = Math.ceil(length / this.#layout.rows) - this.#pageOf(this.#start);
    this.#replace(this.#tables.map((table) => table.slice(0, pages)));
    this.#length = length;
  }

  reorder(indices: readonly number[]): void {
    this.#replace(indices.map((index) => this.#tables[index] ?? []));
  }

  dispose(): void {
    this.#disposed = true;
    this.#replace([]);
  }

  #pageOf(token: number): number {
    return Math.floor(token / this.#layout.rows);
  }

  #replace(tables: PageTables): void {
    for (const page of tables.flat()) page.users += 1;
    this.#release(this.#tables);
    this.#tables = tables;
  }

  #release(tables: PageTables): void {
    for (const page of tables.flat()) {
      page.users -= 1;
      if (page.users === 0 && this.#snapshot?.pages.has(page) !== true) this.#backend.free(page.resident);
    }
  }

  /** Page tables with room for more tokens, whose pages may be written to. Each of their pages counts one more user. */
  #room(count: number): PageTables {
    const { rows } = this.#layout;
    const first = this.#pageOf(this.#start);
    const written = this.#pageOf(this.#length) - first;
    const end = Math.ceil((this.#length + count) / rows) - first;
    const made: Page[][] = [];
    try {
      for (const table of this.#tables) {
        const own: Page[] = [];
        made.push(own);
        for (let index = 0; index < end; index++) own.push(this.#use(table[index], count > 0 && index >= written));
      }
    } catch (error) {
      this.#release(made);
      throw error;
    }
    return made;
  }

  /** The page itself; a copy, if it is written to and shared; or a new page, if there is none. */
  #use(page: Page | undefined, isWritten: boolean): Page {
    if (page !== undefined && !(isWritten && page.users > 1)) {
      page.users += 1;
      return page;
    }
    const resident = this.#backend.page(this.#layout.bytes);
    if (page !== undefined) {
      this.#backend.bytesOf("cache", resident).set(this.#backend.bytesOf("cache", page.resident));
    }
    return { resident, users: 1 };
  }

  #write(where: string, tables: PageTables, operand: Operand, part: PagePart): void {
    const numbers = this.#numbersOf(where, operand);
    const [, heads, count] = operand.shape;
    const [batchStride, headStride, stride] = operand.strides;
    const first = this.#pageOf(this.#start);
    for (const [entry, table] of tables.entries()) {
      for (let done = 0; done < count; ) {
        const token = this.#length + done;
        const page = table[this.#pageOf(token) - first];
        if (page === undefined) throw new TypeError("a cache made too few pages");
        const row = token % this.#layout.rows;
        const fitting = Math.min(count - done, this.#layout.rows - row);
        const bytes = this.#backend.bytesOf(where, page.resident);
        for (let head = 0; head < heads; head++) {
          const from = entry * batchStride + head * headStride + done * stride;
          if (this.#layout.write(bytes, part, head, row, { numbers, first: from, stride, count: fitting })) continue;
          this.#areFinite = false;
          if (this.#layout.dtype === "i8")
            throw new HeedError("option", `${where}: a cache of i8 takes finite numbers, got others`);
        }
        const spans = Array.from({ length: heads }, (_, head) => this.#layout.spans(part, head, row, fitting));
        this.#backend.changed(page.resident, spans.flat());
        done += fitting;
      }
    }
  }

  /** The numbers of an operand: the caller's array, or a view of the backend's memory. */
  #numbersOf(where: string, { source, dtype }: Operand): Float32Array | Uint16Array {
    if (source.kind === "resident") {
      const { buffer, byteOffset, byteLength } = this.#backend.bytesOf(where, source.resident);
      return dtype === "f16"
        ? new Uint16Array(buffer, byteOffset, byteLength / Uint16Array.BYTES_PER_ELEMENT)
        : new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT);
    }
    if (source.kind === "array" && !(source.array instanceof Uint8Array)) return source.array;
    throw new TypeError("keys and values are f32 or f16");
  }
}
