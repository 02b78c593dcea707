// How a page of a KV cache stores K and V of all heads, and how rows are written to it.

import type { Span } from "../../backends/backend.js";
import { BLOCK_ROWS, I8_TILES } from "../../backends/wasm/generated/kv-page.js";
import { fromF16, toF16 } from "../../base/f16.js";
import { quantizeRows } from "./quantize.js";
import { roundUp, type Tiles } from "./tiles.js";

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

/** The exponent bits of f16, all of which are set in infinity and NaN. */
const F16_EXPONENT = 0x7c00;

const SIZES: Readonly<Record<CacheType, number>> = { f32: 4, f16: 2, i8: 1 };

/** K, or V, of one head in a page. */
export interface PagePart {
  /** In bytes, from the start of the head. */
  readonly offset: number;
  /** The length of a row. */
  readonly dim: number;
  /** The length of a row in memory, with padding. */
  readonly width: number;
  /** For i8 only. */
  readonly tiles: Tiles | null;
  /** Bytes from `offset` to what is beside the numbers: for i8 one f32 scale for each row, for f16 a word that is not 0 if some row is not finite. */
  readonly scales: number;
}

/** Rows of a head from the caller, the first at index `first`, `stride` numbers apart. f16 as bits. */
export interface GivenRows {
  readonly numbers: Float32Array | Uint16Array;
  readonly first: number;
  readonly stride: number;
  readonly count: number;
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
      const tiles = dtype === "i8" ? I8_TILES[name] : null;
      const width = roundUp(dim, tiles?.number[0] ?? 1);
      return { offset: take(roundUp(this.rows, tiles?.rows ?? 1) * width * this.elementBytes), dim, width, tiles };
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

  /** The byte ranges of rows of a head, and of what is beside them. */
  spans(part: PagePart, head: number, row: number, count: number): readonly Span[] {
    const start = head * this.headBytes + part.offset;
    const rowBytes = part.width * this.elementBytes;
    const tileRows = part.tiles?.rows ?? 1;
    const first = row - (row % tileRows);
    const rows = { from: start + first * rowBytes, bytes: (roundUp(row + count, tileRows) - first) * rowBytes };
    if (this.dtype === "f32") return [rows];
    const [firstScale, scales] = this.dtype === "f16" ? [0, 1] : [row, count];
    const bytes = Float32Array.BYTES_PER_ELEMENT;
    return [rows, { from: start + part.scales + firstScale * bytes, bytes: scales * bytes }];
  }

  /** Writes rows of a head. Returns false where they are not finite, which i8 requires. */
  write(page: Uint8Array<ArrayBuffer>, part: PagePart, head: number, row: number, given: GivenRows): boolean {
    const start = page.byteOffset + head * this.headBytes + part.offset;
    const rows = contiguous(given, part.dim);
    const { tiles, width } = part;
    if (tiles !== null) {
      const numbers = new Int8Array(page.buffer, start, part.scales);
      const scales = new Float32Array(page.buffer, start + part.scales, this.rows).subarray(row);
      return quantizeRows(widened(rows), part.dim, { numbers, scales, tiles, row, width });
    }
    const first = start + row * width * this.elementBytes;
    if (this.dtype === "f16") {
      const f16 = rows instanceof Uint16Array ? rows : toF16(rows);
      new Uint16Array(page.buffer, first, rows.length).set(f16);
      const hasOthers = f16.some((bits) => (bits & F16_EXPONENT) === F16_EXPONENT);
      if (hasOthers) new Int32Array(page.buffer, start + part.scales, 1)[0] = 1;
      return true;
    }
    new Float32Array(page.buffer, first, rows.length).set(widened(rows));
    return true;
  }
}

function widened(rows: Float32Array | Uint16Array): Float32Array {
  return rows instanceof Uint16Array ? fromF16(rows) : rows;
}

/** The rows without gaps: a view, or a copy. */
function contiguous({ numbers, first, stride, count }: GivenRows, dim: number): Float32Array | Uint16Array {
  if (stride === dim || count === 1) return numbers.subarray(first, first + count * dim);
  const rows = numbers instanceof Uint16Array ? new Uint16Array(count * dim) : new Float32Array(count * dim);
  for (let row = 0; row < count; row++) {
    const at = first + row * stride;
    rows.set(numbers.subarray(at, at + dim), row * dim);
  }
  return rows;
}
