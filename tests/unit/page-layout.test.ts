import { expect, test } from "vitest";
import { PageLayout } from "../../web/src/api/cache/page-layout.js";
import { TYPES } from "../support/cached.js";

const MOST = 2 ** 24;

const pageRows = (dtype: (typeof TYPES)[number], most: number, held: number): number =>
  new PageLayout(dtype, 1, { key: 8, value: 8 }, most, held).rows;

test("a short cache has pages of 96 rows in f32, and of more rows in smaller types", () => {
  expect(TYPES.map((dtype) => pageRows(dtype, 1000, 1000))).toEqual([96, 192, 384]);
});

test("pages grow with the cache, to at most an eighth of it, or a quarter for int8", () => {
  const rowsAt = (dtype: (typeof TYPES)[number], ...held: number[]) => held.map((most) => pageRows(dtype, MOST, most));
  expect(rowsAt("f32", 1535, 1536, 2303, 2304, 3071, 3072, MOST)).toEqual([96, 192, 192, 288, 288, 384, 384]);
  expect(rowsAt("f16", 3071, 3072, 4607, 4608, 6143, 6144, MOST)).toEqual([192, 384, 384, 576, 576, 768, 768]);
  expect(rowsAt("i8", 3071, 3072, 4607, 4608, 6143, 6144, MOST)).toEqual([384, 768, 768, 1152, 1152, 1536, 1536]);
});

test("a page has no more rows than a cache takes, but may have more than its window", () => {
  expect(pageRows("f32", 10, 10)).toBe(10);
  expect(pageRows("f32", MOST, 10)).toBe(96);
});

/** The whole numbers of a row, which are their own bytes: the largest is 127. */
const rowOf = (row: number, dim: number): number[] =>
  Array.from({ length: dim }, (_, i) => (i === 0 ? 127 : ((row * 7 + i * 3) % 200) - 100));

test.each([{ dims: { key: 1, value: 1 } }, { dims: { key: 7, value: 17 } }, { dims: { key: 64, value: 40 } }])(
  "int8 numbers are stored in tiles, $dims",
  ({ dims }) => {
    const heads = 2;
    const layout = new PageLayout("i8", heads, dims, 70, 70);
    const page = new Uint8Array(layout.bytes);
    const write = (part: typeof layout.keys, first: number, count: number): void => {
      const numbers = new Float32Array(Array.from({ length: count }, (_, row) => rowOf(first + row, part.dim)).flat());
      const given = { numbers, first: 0, stride: part.dim, count };
      expect(layout.write(page, part, 1, first, given)).toBe(true);
    };
    for (const part of [layout.keys, layout.values])
      for (const [first, count] of [
        [0, 1],
        [1, 30],
        [31, 39],
      ] as const)
        write(part, first, count);

    const bytes = new Int8Array(page.buffer);
    const numberAt = (part: typeof layout.keys, offset: number): number =>
      bytes[layout.headBytes + part.offset + offset] ?? Number.NaN;
    const pairs = Math.ceil(dims.key / 2);
    const sixteens = Math.ceil(dims.value / 16);
    for (let row = 0; row < 70; row++) {
      // [sixteen of rows][pair of numbers][row][number]
      const key = rowOf(row, dims.key).map((_, d) =>
        numberAt(layout.keys, ((Math.floor(row / 16) * pairs + Math.floor(d / 2)) * 16 + (row % 16)) * 2 + (d % 2)),
      );
      expect(key).toEqual(rowOf(row, dims.key));
      // [32 rows][sixteen of numbers][pair of rows][number][row]
      const value = rowOf(row, dims.value).map((_, d) => {
        const tile = Math.floor(row / 32) * sixteens + Math.floor(d / 16);
        return numberAt(layout.values, ((tile * 16 + Math.floor((row % 32) / 2)) * 16 + (d % 16)) * 2 + (row % 2));
      });
      expect(value).toEqual(rowOf(row, dims.value));
    }
    // Nothing was written beside the rows of the one head, and the spans of what was have all of it.
    const told = new Uint8Array(page.length);
    for (const part of [layout.keys, layout.values]) {
      for (const { from, bytes } of layout.spans(part, 1, 0, 70)) told.fill(1, from, from + bytes);
    }
    expect(page.some((byte, at) => byte !== 0 && told[at] === 0)).toBe(false);
  },
);

test("a span of few rows has the whole tiles that they are in, and no others", () => {
  const layout = new PageLayout("i8", 1, { key: 64, value: 64 }, 384, 384);
  const [keys] = layout.spans(layout.keys, 0, 17, 1);
  expect(keys).toEqual({ from: layout.keys.offset + 16 * 64, bytes: 16 * 64 });
  const [values] = layout.spans(layout.values, 0, 31, 2);
  expect(values).toEqual({ from: layout.values.offset, bytes: 64 * 64 });
});
