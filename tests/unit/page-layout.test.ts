import { expect, test } from "vitest";
import { PageLayout } from "../../web/src/api/cache/page-layout.js";
import { TYPES } from "../support/cached.js";

const MOST = 2 ** 24;

const pageRows = (dtype: (typeof TYPES)[number], most: number, held: number): number =>
  new PageLayout(dtype, 1, { key: 8, value: 8 }, most, held).rows;

test("a short cache has pages of 96 rows of f32, or of as many bytes", () => {
  expect(TYPES.map((dtype) => pageRows(dtype, 1000, 1000))).toEqual([96, 192, 384]);
});

test("a page grows by as many rows with what the cache holds, of which it is an eighth at most", () => {
  const rowsAt = (dtype: (typeof TYPES)[number], ...held: number[]) => held.map((most) => pageRows(dtype, MOST, most));
  expect(rowsAt("f32", 1535, 1536, 2303, 2304, 3071, 3072, MOST)).toEqual([96, 192, 192, 288, 288, 384, 384]);
  expect(rowsAt("f16", 3071, 3072, MOST)).toEqual([192, 384, 384]);
  expect(rowsAt("i8", 6143, 6144, 9215, 9216, 12287, 12288, MOST)).toEqual([384, 768, 768, 1152, 1152, 1536, 1536]);
});

test("a page has no more rows than a cache takes, but may have more than its window", () => {
  expect(pageRows("f32", 10, 10)).toBe(10);
  expect(pageRows("f32", MOST, 10)).toBe(96);
});
