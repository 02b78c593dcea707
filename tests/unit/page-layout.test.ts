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

test("a span of few rows has the whole tiles that they are in, and no others", () => {
  const layout = new PageLayout("i8", 1, { key: 64, value: 64 }, 384, 384);
  const [keys] = layout.spans(17, 1);
  expect(keys).toEqual({ from: layout.keys.offset + 16 * 64, bytes: 16 * 64 });
  const [, , values] = layout.spans(31, 2);
  expect(values).toEqual({ from: layout.values.offset, bytes: 64 * 64 });
});
