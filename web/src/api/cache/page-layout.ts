// How a page of a KV cache stores K and V of all heads.

import type { Span } from "../../backends/backend.js";
import { BLOCK_ROWS, I8_TILES } from "../../backends/wasm/generated/kv-page.js";

/** The type in which K and V are stored. */
export type CacheType = "f32" | "f16" | "i8";

/**
 * A page has at least so many bytes of each column, a KV block in f32, which ends where its page does. Read bandwidth is reached only by
 * long streams, so smaller types have more rows in a page. Smaller pages would also make the page tables of long caches long.
 */
const COLUMN_BYTES = 4 * BLOCK_ROWS;

/**
 * Pages are up to MOST_TIMES longer than that, as long as a full cache has LEAST_PAGES of them: long pages in a short cache would waste
 * memory. int8 wastes least and gains most by long pages.
 */
const MOST_TIMES = 4;
const LEAST_PAGES: Readonly<Record<CacheType, number>> = { f32: 8, f16: 8, i8: 4 };

/** The scales of an int8 tile, which are read as a whole, take 128 bytes. Cache lines and vectors are not longer. */
const ALIGNMENT = 128;

const SIZES: Readonly<Record<CacheType, number>> = { f32: 4, f16: 2, i8: 1 };

/** K, or V, of one head in a page. */
export interface PagePart {
  /** In bytes, from the start of the head. */
  readonly offset: number;
  /** The length of a row. */
  readonly dim: number;
  /** The length of a row in memory, with padding. */
  readonly width: number;
  /** How many rows share a tile of int8. */
  readonly tileRows: number;
  /** Bytes from `offset` to what is beside the numbers: for i8 one f32 scale for each row, for f16 a word that is not 0 if some row is not finite. */
  readonly scales: number;
}

export class PageLayout {
  readonly rows: number;
  readonly dtype: CacheType;
  readonly keys: PagePart;
  readonly values: PagePart;
  readonly headBytes: number;
  readonly bytes: number;

  /** For a cache to which at most `most` tokens are appended, and which holds `held` of them at a time. */
  constructor(
    dtype: CacheType,
    heads: number,
    dims: { readonly key: number; readonly value: number },
    most: number,
    held: number,
  ) {
    this.dtype = dtype;
    const least = COLUMN_BYTES / SIZES[dtype];
    const times = Math.min(Math.floor(held / (LEAST_PAGES[dtype] * least)), MOST_TIMES);
    this.rows = Math.min(Math.max(1, times) * least, most);
    let end = 0;
    const take = (bytes: number): number => {
      const start = end;
      end = roundUp(end + bytes, ALIGNMENT);
      return start;
    };
    const part = (name: "key" | "value"): Omit<PagePart, "scales"> => {
      const dim = dims[name];
      const { rows: tileRows, group } = dtype === "i8" ? I8_TILES[name] : { rows: 1, group: 1 };
      const width = roundUp(dim, group);
      return { offset: take(roundUp(this.rows, tileRows) * width * this.elementBytes), dim, width, tileRows };
    };
    const keys = part("key");
    const values = part("value");
    const scaleBytes = { f32: 0, f16: 1, i8: this.rows }[dtype] * Float32Array.BYTES_PER_ELEMENT;
    this.keys = { ...keys, scales: take(scaleBytes) - keys.offset };
    this.values = { ...values, scales: take(scaleBytes) - values.offset };
    this.headBytes = end;
    this.bytes = heads * end;
  }

  get elementBytes(): number {
    return SIZES[this.dtype];
  }

  /** The byte ranges of rows of all heads, and of what is beside them. */
  spans(row: number, count: number): readonly Span[] {
    const heads = Array.from({ length: this.bytes / this.headBytes }, (_, head) => head * this.headBytes);
    return heads.flatMap((head) =>
      [this.keys, this.values].flatMap((part) => this.#spans(part, head + part.offset, row, count)),
    );
  }

  #spans(part: PagePart, start: number, row: number, count: number): readonly Span[] {
    const { tileRows } = part;
    const rowBytes = part.width * this.elementBytes;
    const first = row - (row % tileRows);
    const rows = { from: start + first * rowBytes, bytes: (roundUp(row + count, tileRows) - first) * rowBytes };
    if (this.dtype === "f32") return [rows];
    const [firstScale, scales] = this.dtype === "f16" ? [0, 1] : [row, count];
    const bytes = Float32Array.BYTES_PER_ELEMENT;
    return [rows, { from: start + part.scales + firstScale * bytes, bytes: scales * bytes }];
  }
}

function roundUp(count: number, step: number): number {
  return Math.ceil(count / step) * step;
}
