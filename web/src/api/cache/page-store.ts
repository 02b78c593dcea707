// The pages of a KV cache, and a page table for each batch entry. Entries with a common past share pages, copy-on-write.

import type { Backend, Operand, Pages, Resident } from "../../backends/backend.js";
import { HeedError } from "../../base/errors.js";
import type { AppendProblem } from "../../operations/append.js";
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
  /** Pages that are to begin as copies of others, in whose place they are. */
  readonly copies: ReadonlyMap<Page, Page>;
}

/** Rows of consecutive tokens in one page: those from `token` on among the new ones. */
interface Segment {
  readonly entry: number;
  readonly page: Page;
  readonly row: number;
  readonly token: number;
  readonly count: number;
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

  constructor(backend: Backend, layout: PageLayout, batch: number, keep: number | null) {
    this.#backend = backend;
    this.#layout = layout;
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

  /** Makes room for tokens behind those that are held, without counting them yet. If it throws a HeedError, nothing has changed. */
  stage(count: number): Staged {
    const { rows } = this.#layout;
    const first = this.#pageOf(this.#start);
    const written = this.#pageOf(this.#length) - first;
    const end = Math.ceil((this.#length + count) / rows) - first;
    const tables: Page[][] = [];
    const copies = new Map<Page, Page>();
    try {
      for (const table of this.#tables) {
        const own: Page[] = [];
        tables.push(own);
        for (let index = 0; index < end; index++) {
          own.push(this.#use(table[index], count > 0 && index >= written, copies));
        }
      }
    } catch (error) {
      this.#release(tables);
      throw error;
    }
    return { tables, length: this.#length + count, copies };
  }

  /** Writes the new tokens' rows to their pages, on this thread. */
  write(where: string, staged: Staged, { key, value }: NewRows): void {
    for (const [page, source] of staged.copies) {
      this.#backend.bytesOf(where, page.resident).set(this.#backend.bytesOf(where, source.resident));
    }
    for (const segment of this.#segments(staged)) {
      this.#write(where, segment, key, this.#layout.keys);
      this.#write(where, segment, value, this.#layout.values);
      this.#changed(segment, key.shape[1]);
    }
  }

  /** The operation that writes them. */
  appended({ key, value }: NewRows, staged: Staged): AppendProblem {
    const { dtype, headBytes, keys, values } = this.#layout;
    const segments = this.#segments(staged);
    for (const segment of segments) this.#changed(segment, key.shape[1]);
    const pages = segments.map(({ page, ...rows }) => {
      return { ...rows, page: page.resident, source: staged.copies.get(page)?.resident ?? null };
    });
    return { key, value, dtype, headBytes, keys, values, pages };
  }

  /** The page table of a staged cache, for a call that reads it. */
  pagesOf({ tables }: Staged): Pages {
    const { rows, keys, values, headBytes } = this.#layout;
    return {
      pages: tables.flat().map(({ resident }) => resident),
      perBatch: tables[0]?.length ?? 0,
      rows,
      first: this.#start % rows,
      keyScales: keys.scales,
      valueScales: values.scales,
      headBytes,
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

  /** The page itself; a new one for a copy of it, if it is written to and shared; or a new one, if there is none. It counts one more user. */
  #use(page: Page | undefined, isWritten: boolean, copies: Map<Page, Page>): Page {
    if (page !== undefined && !(isWritten && page.users > 1)) {
      page.users += 1;
      return page;
    }
    const made = { resident: this.#backend.page(this.#layout.bytes), users: 1 };
    if (page !== undefined) copies.set(made, page);
    return made;
  }

  /** Where the new tokens' rows are. */
  #segments({ tables, length }: Staged): readonly Segment[] {
    const first = this.#pageOf(this.#start);
    const { rows } = this.#layout;
    return tables.flatMap((table, entry) => {
      const segments: Segment[] = [];
      for (let token = this.#length; token < length; ) {
        const page = table[this.#pageOf(token) - first];
        if (page === undefined) throw new TypeError("a cache made too few pages");
        const row = token % rows;
        const count = Math.min(length - token, rows - row);
        segments.push({ entry, page, row, token: token - this.#length, count });
        token += count;
      }
      return segments;
    });
  }

  #write(where: string, { entry, page, row, token, count }: Segment, operand: Operand, part: PagePart): void {
    const numbers = this.#numbersOf(where, operand);
    const [batchStride, headStride, stride] = operand.strides;
    const bytes = this.#backend.bytesOf(where, page.resident);
    for (let head = 0; head < operand.shape[1]; head++) {
      const first = entry * batchStride + head * headStride + token * stride;
      if (!this.#layout.write(bytes, part, head, row, { numbers, first, stride, count }))
        throw new HeedError("option", `${where}: a cache of i8 takes finite numbers, got others`);
    }
  }

  /** Tells the backend which bytes of a page change. */
  #changed({ page, row, count }: Segment, heads: number): void {
    const { keys, values } = this.#layout;
    const spans = [keys, values].flatMap((part) =>
      Array.from({ length: heads }, (_, head) => this.#layout.spans(part, head, row, count)),
    );
    this.#backend.changed(page.resident, spans.flat());
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
