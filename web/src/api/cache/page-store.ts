// The pages of a cache: a list for each batch entry, in which entries that had the same past share pages until one of them writes.

import type { Backend, Operand, Pages, Resident } from "../../backends/backend.js";
import { HeedError } from "../errors.js";
import type { PageLayout, PagePart } from "./page-layout.js";

interface Page {
  readonly resident: Resident;
  /** Lists that it is in. */
  users: number;
}

type PageLists = readonly (readonly Page[])[];

/** Keys and values to be appended, in [batch, heads, length, dim]. */
export interface NewRows {
  readonly key: Operand;
  readonly value: Operand;
}

/** A cache as it was when a trial began. */
interface Before {
  readonly lists: PageLists;
  readonly length: number;
  readonly start: number;
  /** They stay until the trial ends, even if no list has them. */
  readonly pages: ReadonlySet<Page>;
}

/** A cache as it will be, once what reads it has gone well. */
export interface Staged {
  readonly lists: PageLists;
  readonly length: number;
}

export class PageStore {
  readonly #backend: Backend;
  readonly #layout: PageLayout;
  /** Earlier tokens than the last so many are let go of; null: none are. */
  readonly #keep: number | null;
  #lists: PageLists;
  #length = 0;
  #start = 0;
  #disposed = false;
  #before: Before | null = null;
  /** Nothing that was ever written to it is NaN or infinite. Of f32 nobody looks. */
  #areFinite: boolean;

  constructor(backend: Backend, layout: PageLayout, batch: number, keep: number | null) {
    this.#backend = backend;
    this.#layout = layout;
    this.#areFinite = layout.dtype !== "f32";
    this.#keep = keep;
    this.#lists = Array.from({ length: batch }, () => []);
  }

  /** Tokens appended so far. */
  get length(): number {
    return this.#length;
  }

  /** The first token that is still held. */
  get start(): number {
    return this.#start;
  }

  /** Writes rows behind those that are held, without counting them yet. Throws HeedError, and nothing has changed. */
  stage(where: string, rows: NewRows): Staged {
    const count = rows.key.shape[2];
    const lists = this.#room(count);
    try {
      this.#write(where, lists, rows.key, this.#layout.keys);
      this.#write(where, lists, rows.value, this.#layout.values);
    } catch (error) {
      this.#release(lists);
      throw error;
    }
    return { lists, length: this.#length + count };
  }

  /** Where a staged cache lies. */
  pagesOf({ lists }: Staged): Pages {
    const { rows, keys, values } = this.#layout;
    return {
      pages: lists.flat().map(({ resident }) => resident),
      perBatch: lists[0]?.length ?? 0,
      rows,
      first: this.#start % rows,
      areFinite: this.#areFinite,
      keyScales: keys.scales,
      valueScales: values.scales,
    };
  }

  commit({ lists, length }: Staged): void {
    if (this.#disposed) {
      this.#release(lists);
      return;
    }
    const start = this.#keep === null ? 0 : Math.max(this.#start, length - this.#keep);
    const gone = this.#pageOf(start) - this.#pageOf(this.#start);
    this.#replace(lists.map((list) => list.slice(gone)));
    this.#release(lists);
    this.#length = length;
    this.#start = start;
  }

  rollBack({ lists }: Staged): void {
    this.#release(lists);
  }

  /** From here on the cache may become again what it is now. Written to are only places behind its tokens. */
  beginTrial(): void {
    this.#before = {
      lists: this.#lists,
      length: this.#length,
      start: this.#start,
      pages: new Set(this.#lists.flat()),
    };
  }

  /** Unless `isKept`, the cache is what it was when the trial began. */
  endTrial(isKept: boolean): void {
    const before = this.#before;
    if (before === null) throw new TypeError("a trial that ends has begun");
    this.#before = null;
    if (!isKept && !this.#disposed) {
      this.#replace(before.lists);
      this.#length = before.length;
      this.#start = before.start;
    }
    for (const page of before.pages) if (page.users === 0) this.#backend.free(page.resident);
  }

  /** Tokens from here on were never appended. */
  truncate(length: number): void {
    const pages = Math.ceil(length / this.#layout.rows) - this.#pageOf(this.#start);
    this.#replace(this.#lists.map((list) => list.slice(0, pages)));
    this.#length = length;
  }

  /** Batch entry i goes on from what entry indices[i] has been. */
  reorder(indices: readonly number[]): void {
    this.#replace(indices.map((index) => this.#lists[index] ?? []));
  }

  dispose(): void {
    this.#disposed = true;
    this.#replace([]);
  }

  #pageOf(token: number): number {
    return Math.floor(token / this.#layout.rows);
  }

  #replace(lists: PageLists): void {
    for (const page of lists.flat()) page.users += 1;
    this.#release(this.#lists);
    this.#lists = lists;
  }

  #release(lists: PageLists): void {
    for (const page of lists.flat()) {
      page.users -= 1;
      if (page.users === 0 && this.#before?.pages.has(page) !== true) this.#backend.free(page.resident);
    }
  }

  /** The lists with room for more tokens, which may be written to; each page of them counted once more. */
  #room(count: number): PageLists {
    const { rows } = this.#layout;
    const first = this.#pageOf(this.#start);
    const written = this.#pageOf(this.#length) - first;
    const end = Math.ceil((this.#length + count) / rows) - first;
    const made: Page[][] = [];
    try {
      for (const list of this.#lists) {
        const own: Page[] = [];
        made.push(own);
        for (let index = 0; index < end; index++) own.push(this.#use(list[index], count > 0 && index >= written));
      }
    } catch (error) {
      this.#release(made);
      throw error;
    }
    return made;
  }

  /** The page, one of its own if it is to be written to and others have it, or a new one. */
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

  #write(where: string, lists: PageLists, operand: Operand, part: PagePart): void {
    const numbers = this.#numbersOf(where, operand);
    const [, heads, count] = operand.shape;
    const [batchStride, headStride, stride] = operand.strides;
    const first = this.#pageOf(this.#start);
    for (const [entry, list] of lists.entries()) {
      for (let done = 0; done < count; ) {
        const token = this.#length + done;
        const page = list[this.#pageOf(token) - first];
        if (page === undefined) throw new TypeError("a cache made too few pages");
        const place = token % this.#layout.rows;
        const some = Math.min(count - done, this.#layout.rows - place);
        const bytes = this.#backend.bytesOf(where, page.resident);
        for (let head = 0; head < heads; head++) {
          const from = entry * batchStride + head * headStride + done * stride;
          if (this.#layout.write(bytes, part, head, place, { numbers, first: from, stride, count: some })) continue;
          this.#areFinite = false;
          if (this.#layout.dtype === "i8")
            throw new HeedError("option", `${where}: a cache of i8 keeps finite numbers, got others`);
        }
        const spans = Array.from({ length: heads }, (_, head) => this.#layout.spans(part, head, place, some));
        this.#backend.changed(page.resident, spans.flat());
        done += some;
      }
    }
  }

  /** Where the numbers of an operand are: a view, if they are in the backend's memory. */
  #numbersOf(where: string, { source, dtype }: Operand): Float32Array | Uint16Array {
    if (source.kind === "resident") {
      const { buffer, byteOffset, byteLength } = this.#backend.bytesOf(where, source.resident);
      return dtype === "f16"
        ? new Uint16Array(buffer, byteOffset, byteLength / Uint16Array.BYTES_PER_ELEMENT)
        : new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT);
    }
    if (source.kind === "array" && !(source.array instanceof Uint8Array)) return source.array;
    throw new TypeError("keys and values are floats or halves");
  }
}
