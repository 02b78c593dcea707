// Words as columns instead of rows, in every room whose matrices stand for words or vectors. Heads and the matrix walk, where products
// stand the other way round as well, have tests of their own.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { demoInChromium } from "./chromium.js";
import { column } from "./numbers.js";
import { cell, chooseBy, hover, kernelAnswered, readMatrix, readTold, reload } from "./page.js";

const { answered, open } = demoInChromium();

type Rows = readonly (readonly number[])[];

const turn = (matrix: Rows): number[][] => (matrix[0] ?? []).map((_, index) => column(matrix, index));

async function shown(page: Page): Promise<Map<string, number[][]>> {
  const names = await page
    .locator("heed-matrix:visible")
    .evaluateAll((all) => all.map((one) => one.getAttribute("data-name") ?? ""));
  return new Map(await Promise.all(names.map(async (name) => [name, await readMatrix(page, name)] as const)));
}

describe.each([
  ["dictionary.html#of=movies&who=2", "vector", "K", 3, 1],
  ["order.html#kind=rope", "word", "Q", 3, 1],
  ["order.html#kind=relative&t=now+then", "word", "B", 1, 0],
  ["what-else.html#as=layer", "vector", "Wd", 2, 1],
  ["what-else.html#as=graph", "vector", "A", 2, 3],
] as const)("%s", (path, thing, name, row, col) => {
  test("every matrix is turned, and its cells tell what they told", async () => {
    const page = await answered(path);
    const before = await shown(page);
    expect(before.size).toBeGreaterThan(1);
    await hover(page, name, row, col);
    const told = await readTold(page);
    await chooseBy(page, "column", thing);
    await kernelAnswered(page);
    const turned = new Map([...before].map(([one, matrix]) => [one, turn(matrix)]));
    expect(await shown(page)).toEqual(turned);
    await hover(page, name, col, row);
    expect(await readTold(page)).toEqual(told);
    const lit = page.locator(`heed-matrix[data-name="${name}"] td.lit-cell`);
    expect([await lit.getAttribute("data-row"), await lit.getAttribute("data-col")]).toEqual([`${col}`, `${row}`]);
    await reload(page);
    await kernelAnswered(page);
    expect(await shown(page)).toEqual(turned);
  });
});

test("what is said of rows is said of columns", async () => {
  const page = await answered("order.html#by=columns");
  const text = (await page.locator("[data-room]").innerText()).replaceAll("\n", " ");
  expect(text).toContain("attention weights: each column sums to 1");
  expect(text).toContain("one column for each word");
  expect(text).not.toMatch(/each row|one row/i);
});

test("a number is changed where it stands now", async () => {
  const page = await open("order.html#by=columns");
  await cell(page, "X", 5, 2).focus();
  await page.keyboard.type("0.75");
  await page.keyboard.press("Enter");
  expect((await readMatrix(page, "X"))[5]?.[2]).toBe(0.75);
  await chooseBy(page, "row");
  expect((await readMatrix(page, "X"))[2]?.[5]).toBe(0.75);
});
