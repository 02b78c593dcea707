// Room 6 in real Chromium: one head against several, two layers that decide, and counts of large models.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { FEATURES } from "../../../demo/src/model/vocabulary.js";
import { attention } from "../../../web/src/reference/index.js";
import { demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import { column, compare, dot, HALF_OF_FOUR_DECIMALS, total } from "./numbers.js";
import { cell, chooseBy, hashOf, hover, kernelAnswered, readMatrix, readTold, reload } from "./page.js";
import { jsonOf } from "./saved.js";

const { answered, open } = demoInChromium();

type Rows = readonly (readonly number[])[];

interface Numbers {
  readonly words: readonly string[];
  readonly X: Rows;
  readonly heads: readonly Readonly<Record<"Q" | "K" | "V" | "A" | "O", Rows>>[];
  readonly WO: Rows;
}

async function expectedHeads(page: Page) {
  const { heads, words, WO } = await jsonOf<Numbers>(page, "heads");
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

/** The last word of a step is on the board's own scrubber; what stands on it is read as a person sees it. */
const boardOf = (page: Page, picture: string) => page.locator(`[data-picture="${picture}"] .board`);
const scrub = (page: Page, picture: string, at: number): Promise<void> =>
  boardOf(page, picture).locator('input[type="range"]').fill(String(at));
const drawing = (page: Page, picture: string): Promise<string> =>
  boardOf(page, picture)
    .locator("svg")
    .evaluate((svg) => svg.innerHTML);
const saidOf = async (page: Page, picture: string): Promise<string> =>
  (await page.locator(`[data-picture="${picture}"] .picture-text`).textContent()) ?? "";
const shareIn = (text: string, word: string): number =>
  Number(new RegExp(`${word} (\\d+)\u00a0%`).exec(text)?.[1] ?? Number.NaN) / 100;

describe("the word “it”", () => {
  test.each(["tired", "wide"])("averages with one head and splits with two: too %s", async (reason) => {
    const page = await answered(`heads.html#too=${reason}&h=1&step=attend`);
    const one = await saidOf(page, "heads");
    expect(Math.abs(shareIn(one, "animal") - shareIn(one, "road"))).toBeLessThan(0.1);
    await page.getByRole("radio", { name: "2", exact: true }).check();
    await kernelAnswered(page);
    const { words, shares } = await expectedHeads(page);
    expect(words.at(-1)).toBe(reason);
    const [it, animal, road] = ["it", "animal", "road"].map((word) => words.indexOf(word));
    const two = await saidOf(page, "heads");
    for (const [head, word, place = 0] of [
      [0, "animal", animal],
      [1, "road", road],
    ] as const) {
      const wanted = shares(head)[(it ?? 0) * words.length + place] ?? Number.NaN;
      expect(wanted).toBeGreaterThan(0.7);
      expect(Math.abs(shareIn(two, word) - wanted)).toBeLessThanOrEqual(0.005);
    }
  });
});

describe("the ribbons", () => {
  const PLACES = [0, 0.3, 0.5, 1, 1.6, 2, 2.5, 3, 3.5, 4];

  test.each(["1", "2", "8"])("with %s heads, every place shows the same on the way back", async (heads) => {
    const page = await answered(`heads.html#h=${heads}`);
    const there: string[] = [];
    for (const at of PLACES) {
      await scrub(page, "heads", at);
      there.push(await drawing(page, "heads"));
    }
    expect(new Set(there).size).toBe(PLACES.length);
    for (const [index, at] of [...PLACES.entries()].reverse()) {
      await scrub(page, "heads", at);
      expect(await drawing(page, "heads"), `at ${at}`).toBe(there[index]);
    }
  });

  test("part into as many heads", async () => {
    const page = await answered("heads.html#h=4&step=split");
    const titles = boardOf(page, "heads").locator("text", { hasText: /^head \d$/ });
    expect(await titles.allTextContents()).toEqual(["head 1", "head 2", "head 3", "head 4"]);
  });

  test("tell the arithmetic of what is pressed, and another word asks where one presses it", async () => {
    const page = await answered("heads.html#h=2&step=attend");
    const { words, shares } = await expectedHeads(page);
    const [it, road] = [words.indexOf("it"), words.indexOf("road")];
    await boardOf(page, "heads").locator(`text[data-pick="A-1.${it}.${road}"]`).click();
    const told = await readTold(page);
    expect(told.subject).toBe("head 2: A [it, road]");
    expect(Math.abs(told.result - (shares(1)[it * words.length + road] ?? 0))).toBeLessThanOrEqual(
      HALF_OF_FOUR_DECIMALS,
    );
    await boardOf(page, "heads").locator('text[data-pick="word.1"]').click();
    expect(await saidOf(page, "heads")).toContain("“animal”");
  });
});

describe("two layers", () => {
  test("the last word decides what “it” finds: tired the animal, wide the road", async () => {
    const page = await answered("heads.html");
    const at = async (step: number): Promise<readonly [number, number]> => {
      await scrub(page, "layers", step);
      const said = await saidOf(page, "layers");
      return [shareIn(said, "animal"), shareIn(said, "road")];
    };
    for (const [ending, best] of [
      ["tired", 0],
      ["wide", 1],
      ["tired", 0],
    ] as const) {
      await page.getByRole("radio", { name: ending }).check();
      const alone = await at(0);
      expect(alone[0]).toBe(alone[1]);
      const found = await at(3);
      expect(found[best]).toBeGreaterThan(0.6);
      expect(found[1 - best]).toBeLessThan(0.2);
      await scrub(page, "layers", 1);
      expect(shareIn(await saidOf(page, "layers"), `${ending}:`)).toBeGreaterThan(0.6);
    }
  });

  test.each(["Q1-0.0.1", "O1-0.0.1", "Q2-0.0.3"])("the product %s adds up", async (cell) => {
    const page = await answered(`heads.html#too=wide&cell=${cell}`);
    const { terms, result } = await readTold(page);
    const sum = total(terms.map(([a = Number.NaN, b = Number.NaN]) => a * b));
    expect(Math.abs(sum - result)).toBeLessThanOrEqual(12 * HALF_OF_FOUR_DECIMALS);
  });

  test("a weight of the second layer is a softmax of its scores", async () => {
    const page = await answered("heads.html#too=wide&cell=A2-0.0.5");
    const { terms, result } = await readTold(page);
    const powers = terms.map(([score = Number.NaN]) => Math.exp(score));
    expect(powers).toHaveLength(11);
    // Scores are shown with three decimals.
    expect(Math.abs(result - (powers[5] ?? Number.NaN) / total(powers))).toBeLessThan(0.002);
    expect(result).toBeGreaterThan(0.6);
  });
});

test("the arithmetic is of the picture that it stands beside, step by step", async () => {
  const page = await answered("heads.html");
  const subject = (text: string) => page.locator(".readout-subject span", { hasText: text }).waitFor();
  await subject("A [it, animal]");
  await boardOf(page, "layers").scrollIntoViewIfNeeded();
  await subject("layer 2 alone: attention weights [animal]");
  const alone = await readTold(page);
  expect(Math.abs(alone.result - shareIn(await saidOf(page, "layers"), "animal"))).toBeLessThanOrEqual(0.005);
  await scrub(page, "layers", 1);
  await subject("layer 1: attention weights [tired]");
  await scrub(page, "layers", 2);
  await subject("layer 2: query of “it” [life]");
  await boardOf(page, "heads").scrollIntoViewIfNeeded();
  await subject("A [it, animal]");
});

describe("the numbers", () => {
  test.each(["1", "2", "4", "8"])(
    "with %s heads, shares and outputs of each are those of the reference",
    async (count) => {
      const page = await answered(`heads.html#h=${count}&step=attend`);
      const { shares, outputs } = await expectedHeads(page);
      const { heads } = await jsonOf<Numbers>(page, "heads");
      expect(heads).toHaveLength(Number(count));
      heads.forEach(({ A, O }, head) => {
        compare(A, shares(head));
        compare(O, outputs(head));
      });
    },
  );

  test("values of all heads are one product, and are merely cut", async () => {
    const together = async (count: number) => {
      const page = await answered(`heads.html#h=${count}`);
      const { X, heads } = await jsonOf<Numbers>(page, "heads");
      return X.map((_, row) => heads.flatMap(({ V }) => V[row] ?? []));
    };
    expect(await together(4)).toEqual(await together(1));
  });

  test("W_O mixes the heads, and an edited cell of it changes its column alone", async () => {
    const page = await answered("heads.html#step=mix");
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

  test("turns every matrix", async () => {
    const page = await answered("heads.html#h=4&step=mix");
    const before = await shown(page);
    expect(before.size).toBe(2);
    await chooseBy(page, "column");
    await kernelAnswered(page);
    expect(await hashOf(page)).toContain("by=columns");
    expect(await shown(page)).toEqual(new Map([...before].map(([one, matrix]) => [one, turn(matrix)])));
  });

  test("tells, lights and edits a cell where it stands now", async () => {
    const page = await answered("heads.html#step=mix&by=columns");
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

  test("no slider's name lies under its value", async () => {
    const page = await open("heads.html");
    for (const slider of await page.locator('[data-picture="counts"] .slider').all()) {
      const apart = await slider.evaluate((one) => {
        const [name, value] = ["label", "output"].map((part) => {
          const range = document.createRange();
          range.selectNodeContents(one.querySelector(part) ?? one);
          return range.getBoundingClientRect();
        });
        return (value?.left ?? 0) - (name?.right ?? Number.NaN);
      });
      expect(apart).toBeGreaterThan(0);
    }
  });

  test("fall when heads share keys and values, those of keys and values alone", async () => {
    const page = await open("heads.html");
    await page.getByRole("slider", { name: "KV heads G" }).fill("0");
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
    expect(await hashOf(page)).toContain("G=1");
  });
});

test("the copied heed call runs and gives the mixed output on the page", async () => {
  const page = await answered("heads.html#h=4&step=mix", { permissions: ["clipboard-read", "clipboard-write"] });
  compare(await readMatrix(page, "Y-0"), await runUnderNode(await copied(page, "heed")));
});

test("an address with nonsense in it is read as far as it makes sense", async () => {
  const page = await answered("heads.html#h=3&too=late&step=9&role=x&wo=2_1_2&H=0&G=77&D=1e9&layers=-1");
  expect(await boardOf(page, "heads").locator("output").textContent()).toBe("columns of V");
  expect(await page.locator('[data-picture="counts"]').innerText()).toContain("W");
});
