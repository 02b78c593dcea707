// Room 6 in real Chromium: one head against several, the multiplication step by step, and counts of large models.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { FEATURES } from "../../../demo/src/model/vocabulary.js";
import { attention } from "../../../web/src/reference/index.js";
import { demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import { column, compare, dot, HALF_OF_FOUR_DECIMALS, total } from "./numbers.js";
import { cell, chooseBy, hover, kernelAnswered, readMatrix, readTold, reload } from "./page.js";
import { jsonOf } from "./saved.js";

const { open } = demoInChromium();

type Rows = readonly (readonly number[])[];

interface Numbers {
  readonly words: readonly string[];
  readonly X: Rows;
  readonly heads: readonly { readonly Q: Rows; readonly K: Rows; readonly V: Rows }[];
  readonly WO: Rows;
}

async function expectedHeads(page: Page) {
  const { heads, words, WO } = await jsonOf<Numbers>(page, "multiplication");
  const [count, rows, width] = [heads.length, words.length, heads[0]?.Q[0]?.length ?? 0];
  const tensor = (role: "Q" | "K" | "V") => ({
    data: Float64Array.from(heads.flatMap((head) => head[role].flat())),
    shape: [1, count, rows, width],
  });
  const { weights, output } = attention(tensor("Q"), tensor("K"), tensor("V"));
  const ofHead = (data: Float64Array, head: number, cols: number) =>
    data.slice(head * rows * cols, (head + 1) * rows * cols);
  const joined = Array.from({ length: rows }, (_, row) =>
    Array.from(
      { length: count * width },
      (__, col) => output.data[(Math.floor(col / width) * rows + row) * width + (col % width)] ?? Number.NaN,
    ),
  );
  return {
    words,
    shares: (head: number) => ofHead(weights.data, head, rows),
    outputs: (head: number) => ofHead(output.data, head, width),
    mixed: joined.map((row) => WO.map((_, col) => dot(row, column(WO, col)))),
  };
}

describe("the word “it”", () => {
  test.each(["tired", "wide"])("averages with one head and splits with two: too %s", async (reason) => {
    const page = await open(`heads.html#too=${reason}`);
    await kernelAnswered(page);
    const [one = [], first = [], second = []] = await readMatrix(page, "shares-0");
    const { words, shares } = await expectedHeads(page);
    const place = (word: string): number => words.indexOf(word);
    const [it, animal, road] = [place("it"), place("animal"), place("road")];
    expect(words.at(-1)).toBe(reason);
    const of = (head: number) => shares(head).slice(it * words.length, (it + 1) * words.length);
    compare([first], of(0));
    compare([second], of(1));
    expect(Math.abs((one[animal] ?? 1) - (one[road] ?? 0))).toBeLessThan(0.1);
    expect(first[animal]).toBeGreaterThan(0.7);
    expect(second[road]).toBeGreaterThan(0.7);
    await hover(page, "shares-0", 2, road);
    expect((await readTold(page)).subject).toBe("head 2: A [it, road]");
  });
});

describe("the multiplication", () => {
  test.each(["1", "2", "4", "8"])(
    "with %s heads, shares and outputs of each are those of the reference",
    async (heads) => {
      const page = await open(`heads.html#h=${heads}&step=attend`);
      await kernelAnswered(page);
      const { shares, outputs } = await expectedHeads(page);
      for (let head = 0; head < Number(heads); head++) {
        compare(await readMatrix(page, `A-${head}`), shares(head));
        compare(await readMatrix(page, `O-${head}`), outputs(head));
      }
    },
  );

  test("queries of all heads are one product, and are merely cut", async () => {
    const page = await open("heads.html#h=4");
    const together = async (kind: string): Promise<number[][]> => {
      const parts = await Promise.all([0, 1, 2, 3].map((head) => readMatrix(page, `${kind}-${head}`)));
      return (parts[0] ?? []).map((_, row) => parts.flatMap((part) => part[row] ?? []));
    };
    const [x, weights, queries] = [await readMatrix(page, "X-0"), await together("W"), await together("q")];
    compare(
      queries,
      x.flatMap((row) => row.map((_, col) => dot(row, column(weights, col)))),
    );
    await page.locator('.step[data-step="split"]').click();
    expect(await together("q")).toEqual(queries);
    expect(page.url()).toContain("step=split");
  });

  test("W_O mixes the heads, and an edited cell of it changes its column alone", async () => {
    const page = await open("heads.html#step=mix");
    await kernelAnswered(page);
    const { mixed } = await expectedHeads(page);
    const before = await readMatrix(page, "Y-0");
    compare(before, mixed.flat());
    await hover(page, "Y-0", 7, 4);
    const told = await readTold(page);
    const sum = total(told.terms.map(([a = Number.NaN, b = Number.NaN]) => a * b));
    expect(Math.abs(sum - told.result)).toBeLessThanOrEqual(9 * HALF_OF_FOUR_DECIMALS);
    await cell(page, "Wo-0", 6, 2).focus();
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    await kernelAnswered(page);
    const after = await readMatrix(page, "Y-0");
    compare(after, (await expectedHeads(page)).mixed.flat());
    for (const col of [0, 1, 3, 4, 5, 6, 7]) expect(column(after, col)).toEqual(column(before, col));
    expect(column(after, 2)).not.toEqual(column(before, 2));
    await reload(page);
    expect(await readMatrix(page, "Y-0")).toEqual(after);
  });
});

describe("a word as a column", () => {
  const turn = (matrix: readonly (readonly number[])[]): number[][] =>
    (matrix[0] ?? []).map((_, col) => column(matrix, col));
  const shown = async (page: Page): Promise<ReadonlyMap<string, number[][]>> => {
    const names = await page
      .locator("heed-matrix:visible")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-name") ?? ""));
    return new Map(await Promise.all(names.map(async (name) => [name, await readMatrix(page, name)] as const)));
  };

  test.each(["project", "split", "attend", "join", "mix"])("turns every matrix of the step %s", async (name) => {
    const page = await open(`heads.html#h=4&step=${name}`);
    await kernelAnswered(page);
    const before = await shown(page);
    expect(before.size).toBeGreaterThan(5);
    await chooseBy(page, "column");
    await kernelAnswered(page);
    expect(page.url()).toContain("by=columns");
    expect(await shown(page)).toEqual(new Map([...before].map(([one, matrix]) => [one, turn(matrix)])));
  });

  test("multiplies the other way round: W times X, and W_O times O", async () => {
    const page = await open("heads.html#h=2&by=columns");
    await kernelAnswered(page);
    const x = await readMatrix(page, "X-0");
    for (const head of [0, 1]) {
      const [weights, queries] = [await readMatrix(page, `W-${head}`), await readMatrix(page, `q-${head}`)];
      compare(
        queries,
        weights.flatMap((row) => (x[0] ?? []).map((_, word) => dot(row, column(x, word)))),
      );
    }
    // As they stand: W left of its product, X above it.
    const box = async (name: string) => {
      const found = await page.locator(`heed-matrix[data-name="${name}"]`).boundingBox();
      if (found === null) throw new Error(`no ${name}`);
      return found;
    };
    const [left, top, first, second] = [await box("W-0"), await box("X-0"), await box("q-0"), await box("q-1")];
    expect(left.x + left.width).toBeLessThanOrEqual(first.x);
    expect(top.y + top.height).toBeLessThanOrEqual(first.y);
    expect(first.y + first.height).toBeLessThanOrEqual(second.y);
    expect(left.y).toBeCloseTo(first.y, 0);
  });

  test("tells, lights and edits a cell where it stands now", async () => {
    const page = await open("heads.html#step=mix&by=columns");
    await kernelAnswered(page);
    await hover(page, "Y-0", 4, 7);
    const { subject } = await readTold(page);
    const text = await page.locator(".readout").textContent();
    expect(text).toContain("The word’s column of all heads’ outputs times a row of WO");
    expect(await page.locator('heed-matrix[data-name="Y-0"] td.lit-cell').count()).toBe(1);
    expect(subject).toBe(`Y [${(await expectedHeads(page)).words[7]}, ${FEATURES[4]}]`);
    const before = await readMatrix(page, "Y-0");
    await cell(page, "Wo-0", 2, 6).focus();
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    await kernelAnswered(page);
    const after = await readMatrix(page, "Y-0");
    // The third line of Y alone, by what the seventh of O adds to it.
    after.forEach((line, row) => {
      if (row === 2) expect(line).not.toEqual(before[row]);
      else expect(line).toEqual(before[row]);
    });
    compare(turn(after), (await expectedHeads(page)).mixed.flat());
  });
});

describe("counts", () => {
  test("of GPT-3, worked out by hand", async () => {
    const page = await open("heads.html");
    const text = await page.locator('[data-picture="counts"]').innerText();
    // 12288 x 96 x 128, four times; 96 layers; one of 96 heads; 2 x 96 x 128 x 96 x 2 bytes.
    for (const figure of ["150,994,944", "603,979,776", "57.98 billion", "6,291,456", "4.72 MB"])
      expect(text).toContain(figure);
  });

  test("fall when heads share keys and values, those of keys and values alone", async () => {
    const page = await open("heads.html");
    await page.getByRole("button", { name: "1", exact: true }).click();
    const rows = page.locator('[data-picture="counts"] tbody tr');
    expect(await rows.allTextContents()).toEqual([
      "WQ12,288 × 96 × 128150,994,944",
      "WK12,288 × 1 × 1281,572,864",
      "WV12,288 × 1 × 1281,572,864",
      "WO96 × 128 × 12,288150,994,944",
      "one layer305,135,616",
    ]);
    const text = await page.locator('[data-picture="counts"]').innerText();
    expect(text).toContain("Multi-query attention: all 96 query heads");
    expect(text).toContain("49.2 kB");
    expect(page.url()).toContain("G=1");
  });
});

test("the copied heed call runs and gives the mixed output on the page", async () => {
  const page = await open("heads.html#h=4&step=mix", { permissions: ["clipboard-read", "clipboard-write"] });
  await kernelAnswered(page);
  compare(await readMatrix(page, "Y-0"), await runUnderNode(await copied(page, "heed")));
});

test("an address with nonsense in it is read as far as it makes sense", async () => {
  const page = await open("heads.html#h=3&too=late&step=9&role=x&wo=2_1_2&H=0&G=77&D=1e9&layers=-1");
  await kernelAnswered(page);
  expect(await page.locator(".step[aria-current]").getAttribute("data-step")).toBe("project");
  expect(await page.locator('[data-picture="counts"]').innerText()).toContain("W");
});
