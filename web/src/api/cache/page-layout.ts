// How a page of a cache holds the keys and values of all heads, and the writing of rows to it.

import type { Span } from "../../backends/backend.js";
import { fromF16, toF16 } from "../f16.js";
import { quantizeRows } from "./quantize.js";
import { roundUp, TILES, type Tiles } from "./tiles.js";

/** What keys and values are kept as. */
export type CacheType = "f32" | "f16" | "i8";

/** Keys of f32 that are a block of the kernels, whose blocks end where a page does. */
const BLOCK_ROWS = 96;

/**
 * Memory is read at its own rate only where runs are long, so that smaller numbers have more rows. Fewer in any page, and a long cache
 * would have more pages than its calls like to name.
 */
const COLUMN_BYTES = 4 * BLOCK_ROWS;

/**
 * So many times as long, as far as the cache still has so many pages: a short one would take memory that it does not need. Bytes take least
 * of it, and gain most.
 */
const MOST_TIMES = 4;
const LEAST_PAGES: Readonly<Record<CacheType, number>> = { f32: 8, f16: 8, i8: 4 };

/** The scales of a tile, which are read whole; and lines of the processor's cache, and the widest vector. */
const ALIGNMENT = 128;

/** The exponent of a half that is infinite or NaN. */
const INFINITE = 0x7c00;

const SIZES: Readonly<Record<CacheType, number>> = { f32: 4, f16: 2, i8: 1 };

/** The keys, or the values, of one head of a page. */
export interface PagePart {
  /** Bytes from the head's own. */
  readonly offset: number;
  /** Numbers of a row. */
  readonly dim: number;
  /** Numbers of memory that are a row's. */
  readonly width: number;
  /** Of i8. */
  readonly tiles: Tiles | null;
  /** Of i8: bytes from `offset` to a float for each row. */
  readonly scales: number;
}

/** Rows of a head as they are given: from `first` on, `stride` numbers from one to the next. Halves by their bits. */
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

  /** Of a cache that takes `most` tokens and holds `held` of them at a time. */
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
      const tiles = dtype === "i8" ? TILES[name] : null;
      const width = roundUp(dim, tiles?.number[0] ?? 1);
      return { offset: take(roundUp(this.rows, tiles?.rows ?? 1) * width * this.elementBytes), dim, width, tiles };
    };
    const keys = part("key");
    const values = part("value");
    const ofScales = keys.tiles === null ? 0 : this.rows * Float32Array.BYTES_PER_ELEMENT;
    this.keys = { ...keys, scales: take(ofScales) - keys.offset };
    this.values = { ...values, scales: take(ofScales) - values.offset };
    this.headBytes = end;
    this.bytes = heads * end;
  }

  get elementBytes(): number {
    return SIZES[this.dtype];
  }

  /** Where rows of a head are, and their scales. */
  spans(part: PagePart, head: number, place: number, count: number): readonly Span[] {
    const start = head * this.headBytes + part.offset;
    const ofRow = part.width * this.elementBytes;
    const together = part.tiles?.rows ?? 1;
    const first = place - (place % together);
    const rows = { from: start + first * ofRow, bytes: (roundUp(place + count, together) - first) * ofRow };
    if (part.tiles === null) return [rows];
    const ofScale = Float32Array.BYTES_PER_ELEMENT;
    return [rows, { from: start + part.scales + place * ofScale, bytes: count * ofScale }];
  }

  /** Writes rows of a head from a place on, and says whether they are finite; those that are not cannot be kept as i8. Of f32 nobody asks. */
  write(page: Uint8Array<ArrayBuffer>, part: PagePart, head: number, place: number, given: GivenRows): boolean {
    const start = page.byteOffset + head * this.headBytes + part.offset;
    const rows = inARow(given, part.dim);
    const { tiles, width } = part;
    if (tiles !== null) {
      const bytes = new Int8Array(page.buffer, start, part.scales);
      const scales = new Float32Array(page.buffer, start + part.scales, this.rows).subarray(place);
      return quantizeRows(floatsOf(rows), part.dim, { bytes, scales, tiles, place, width });
    }
    const first = start + place * width * this.elementBytes;
    if (this.dtype === "f16") {
      const halves = rows instanceof Uint16Array ? rows : toF16(rows);
      new Uint16Array(page.buffer, first, rows.length).set(halves);
      return halves.every((bits) => (bits & INFINITE) !== INFINITE);
    }
    new Float32Array(page.buffer, first, rows.length).set(floatsOf(rows));
    return true;
  }
}

function floatsOf(rows: Float32Array | Uint16Array): Float32Array {
  return rows instanceof Uint16Array ? fromF16(rows) : rows;
}

/** The rows one after the other: where they lie, or copied. */
function inARow({ numbers, first, stride, count }: GivenRows, dim: number): Float32Array | Uint16Array {
  if (stride === dim || count === 1) return numbers.subarray(first, first + count * dim);
  const rows = numbers instanceof Uint16Array ? new Uint16Array(count * dim) : new Float32Array(count * dim);
  for (let row = 0; row < count; row++) {
    const at = first + row * stride;
    rows.set(numbers.subarray(at, at + dim), row * dim);
  }
  return rows;
}
