// The pages of a KV cache, and a page table for each batch entry. Entries with a common past share pages, copy-on-write.

import type { Pages, Resident, RootBackend } from "../../backends/backend.js";
import type { PageLayout } from "./page-layout.js";

interface Page {
  readonly resident: Resident;
  /** The number of page tables that it is in. */
  users: number;
}

type PageTables = readonly (readonly Page[])[];

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
  readonly #backend: RootBackend;
  readonly #layout: PageLayout;
  /** How many of the last tokens a commit keeps; null keeps all. */
  readonly #keep: number | null;
  #tables: PageTables;
  #length = 0;
  #start = 0;
  #disposed = false;
  #snapshot: Snapshot | null = null;

  constructor(backend: RootBackend, layout: PageLayout, batch: number, keep: number | null) {
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
    try {
      for (const table of this.#tables) {
        const own: Page[] = [];
        tables.push(own);
        for (let index = 0; index < end; index++) {
          own.push(this.#use(table[index], count > 0 && index >= written));
        }
      }
    } catch (error) {
      this.#release(tables);
      throw error;
    }
    return { tables, length: this.#length + count };
  }

  /** Tells the backend, or a program of its, which bytes of the pages change by the new tokens. */
  changed({ tables, length }: Staged, to: Pick<RootBackend, "changed"> = this.#backend): void {
    const first = this.#pageOf(this.#start);
    const { rows } = this.#layout;
    for (let token = this.#length; token < length; ) {
      const row = token % rows;
      const count = Math.min(length - token, rows - row);
      const spans = this.#layout.spans(row, count);
      for (const table of tables) {
        const page = table[this.#pageOf(token) - first];
        if (page === undefined) throw new TypeError("a cache made too few pages");
        to.changed(page.resident, spans);
      }
      token += count;
    }
  }

  /** The page table of a staged cache, whose row 0 is that of a token. */
  pagesOf({ tables }: Staged, token: number): Pages {
    const { rows, keys, values, headBytes } = this.#layout;
    const skipped = this.#pageOf(token) - this.#pageOf(this.#start);
    const pages = tables.map((table) => table.slice(skipped));
    return {
      pages: pages.flat().map(({ resident }) => resident),
      perBatch: pages[0]?.length ?? 0,
      rows,
      first: token % rows,
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
  #use(page: Page | undefined, isWritten: boolean): Page {
    if (page !== undefined && !(isWritten && page.users > 1)) {
      page.users += 1;
      return page;
    }
    const made = { resident: this.#backend.page(this.#layout.bytes), users: 1 };
    if (page !== undefined) this.#bytesOf(made).set(this.#bytesOf(page));
    return made;
  }

  #bytesOf({ resident }: Page): Uint8Array {
    return this.#backend.bytesOf("createCache", resident);
  }
}
