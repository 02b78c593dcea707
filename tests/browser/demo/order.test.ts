// Room 7 in real Chromium: words moved about, positions given to them, and what must and must not change.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { attention, type ReferenceOptions } from "../../../web/src/reference/index.js";
import { demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import { column, compare, dot, HALF_OF_FOUR_DECIMALS, total } from "./numbers.js";
import { cell, hover, kernelAnswered, readMatrix, readTold, reload } from "./page.js";
import { jsonOf } from "./saved.js";

const { open } = demoInChromium();

type Rows = readonly (readonly number[])[];

const words = (page: Page): Promise<string[]> => page.locator(".order-word").allTextContents();
const said = async (page: Page): Promise<string> =>
  (await page.locator('[data-picture="words"] .picture-text').textContent()) ?? "";
const word = (page: Page, text: string) => page.locator(".order-word", { hasText: new RegExp(`^${text}$`) });
const trial = async (page: Page, kind: string): Promise<string[]> =>
  page.locator(`.trials tr[data-kind="${kind}"] td b`).allTextContents();

describe("without positions", () => {
  test("a dragged word takes in what it took in, and the outputs move along with the words", async () => {
    const page = await open("order.html");
    await kernelAnswered(page);
    const before = await readMatrix(page, "O");
    const [from, to] = [await word(page, "Mary").boundingBox(), await word(page, "Susan").boundingBox()];
    if (from === null || to === null) throw new Error("no words");
    await page.mouse.move(from.x + 20, from.y + 15);
    await page.mouse.down();
    await page.mouse.move(to.x + 10, to.y + 15, { steps: 20 });
    await page.mouse.up();
    await kernelAnswered(page);
    expect(await words(page)).toEqual(["Mary", "Susan", "gave", "roses", "to"]);
    const after = await readMatrix(page, "O");
    expect(after).toEqual([4, 0, 1, 2, 3].map((place) => before[place]));
    // Double precision by hand, single precision in the kernel.
    expect(await said(page)).toMatch(/difference (0|\d\s×\s10⁻¹[⁶⁷]) by hand, (0|\d\s×\s10⁻[⁷⁸]) in the kernel/);
    expect((await readMatrix(page, "D")).flat().every((value) => Math.abs(value) === 0)).toBe(true);
  });

  test("the keyboard moves a word, buttons swap, shuffle and put back, and the address remembers", async () => {
    const page = await open("order.html");
    await word(page, "gave").focus();
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    expect(await words(page)).toEqual(["Susan", "roses", "to", "gave", "Mary"]);
    expect(await page.locator("heed-order [aria-live]").textContent()).toBe("gave, now at place 4 of 5");
    await page.getByRole("button", { name: "Swap “Susan” and “Mary”" }).click();
    await reload(page);
    expect(await words(page)).toEqual(["Mary", "roses", "to", "gave", "Susan"]);
    await page.getByRole("button", { name: "Shuffle the words" }).click();
    const shuffled = await words(page);
    expect(shuffled).not.toEqual(["Mary", "roses", "to", "gave", "Susan"]);
    expect([...shuffled].sort()).toEqual(["Mary", "Susan", "gave", "roses", "to"]);
    await page.getByRole("button", { name: "Put the words as written" }).click();
    expect(await words(page)).toEqual(["Susan", "gave", "roses", "to", "Mary"]);
  });

  test("the shares under the words are those of the word in the light", async () => {
    const page = await open("order.html#order=4.1.2.3.0");
    await kernelAnswered(page);
    await word(page, "roses").click();
    const shares = (await readMatrix(page, "A"))[2] ?? [];
    const shown = await page.locator(".order-words small").allTextContents();
    shown.forEach((text, place) => {
      expect(Math.abs(Number(text.replace("\u00a0%", "")) / 100 - (shares[place] ?? Number.NaN))).toBeLessThanOrEqual(
        0.0101,
      );
    });
  });
});

interface Vectors {
  readonly X: Rows;
  readonly Wq: Rows;
  readonly Wk: Rows;
}

/** Positions by their definitions, written here once more. */
const speed = (base: number, pair: number): number => 1 / base ** (pair / 4);
const wave = (position: number, col: number): number =>
  (col % 2 === 0 ? Math.sin : Math.cos)(position * speed(100, Math.floor(col / 2)));
const turn = (row: readonly number[], position: number): number[] =>
  row.map((value, col) => {
    const angle = position * speed(100, Math.floor(col / 2));
    const other = row[col % 2 === 0 ? col + 1 : col - 1] ?? Number.NaN;
    return value * Math.cos(angle) + (col % 2 === 0 ? -other : other) * Math.sin(angle);
  });
const relative = [-1, -0.5, 0, 1.5, 0, 0.5, -0.5, -1, -1.5];

describe("with positions", () => {
  const order = [2, 0, 1, 4, 3];
  const shift = 6;

  test.each([
    ["none", {}],
    ["causal", { causal: true }],
    ["sinusoidal", {}],
    ["learned", {}],
    ["rope", {}],
    ["alibi", { alibiSlopes: [0.25] }],
    [
      "relative",
      {
        bias: {
          data: Float64Array.from(
            { length: 25 },
            (_, pair) => relative[Math.max(-4, Math.min(4, (pair % 5) - Math.floor(pair / 5))) + 4] ?? 0,
          ),
          shape: [5, 5],
        },
      },
    ],
  ] satisfies [string, ReferenceOptions][])(
    "%s: shares and outputs are those of the reference",
    async (kind, options) => {
      const page = await open(`order.html#kind=${kind}&order=${order.join(".")}&shift=${shift}&base=100&slope=0.25`);
      await kernelAnswered(page);
      const { X, Wq, Wk } = await jsonOf<Vectors>(page, "vectors");
      // The table has two decimals, as it is shown.
      const table = kind === "learned" ? await readMatrix(page, "P") : [];
      const x = order.map((from, place) =>
        (X[from] ?? []).map((value, col) => {
          if (kind === "sinusoidal") return value + wave(shift + place, col);
          return value + (table[place]?.[col] ?? 0);
        }),
      );
      const times = (weights: Rows): number[][] =>
        x.map((row) => weights[0]?.map((_, col) => dot(row, column(weights, col))) ?? []);
      const placed = (rows: number[][]): number[][] =>
        kind === "rope" ? rows.map((row, place) => turn(row, shift + place)) : rows;
      const tensor = (rows: Rows) => ({ data: Float64Array.from(rows.flat()), shape: [5, 8] });
      const { weights, output } = attention(tensor(placed(times(Wq))), tensor(placed(times(Wk))), tensor(x), options);
      compare(await readMatrix(page, "A"), weights.data);
      compare(await readMatrix(page, "O"), output.data);
    },
  );

  test("each kind notices what it should, and is blind to what it should be", async () => {
    const page = await open("order.html");
    await kernelAnswered(page);
    const [yes, no] = ["notices", "blind"];
    // First two words swapped; reversed; moved as a whole.
    expect(await trial(page, "none")).toEqual([no, no, no]);
    expect(await trial(page, "causal")).toEqual([yes, yes, no]);
    expect(await trial(page, "sinusoidal")).toEqual([yes, yes, yes]);
    expect(await trial(page, "learned")).toEqual([yes, yes, yes]);
    expect(await trial(page, "rope")).toEqual([yes, yes, no]);
    expect(await trial(page, "alibi")).toEqual([yes, no, no]);
    expect(await trial(page, "relative")).toEqual([yes, yes, no]);
  });

  test("a swap that nobody noticed is noticed once positions are there", async () => {
    const page = await open("order.html");
    await page.getByRole("button", { name: "Swap “Susan” and “Mary”" }).click();
    await kernelAnswered(page);
    expect(await said(page)).toContain("nobody noticed");
    await page.getByRole("radio", { name: "rotary" }).check();
    await kernelAnswered(page);
    expect(await said(page)).toMatch(/^Noticed: .* difference 0\.\d+ by hand/);
  });

  test("a turned query and a score tell their arithmetic, and it adds up", async () => {
    const page = await open("order.html#kind=rope&base=100");
    await hover(page, "Q", 4, 1);
    const turned = await readTold(page);
    const sum = total(turned.terms.map(([a = Number.NaN, b = Number.NaN]) => a * b));
    expect(Math.abs(sum - turned.result)).toBeLessThanOrEqual(10 * HALF_OF_FOUR_DECIMALS);
    await hover(page, "Z", 1, 0);
    const score = await readTold(page);
    const products = total(score.terms.map(([a = Number.NaN, b = Number.NaN]) => a * b));
    expect(Math.abs(products / Math.sqrt(8) - score.result)).toBeLessThanOrEqual(30 * HALF_OF_FOUR_DECIMALS);
  });

  test("an edited bias changes the scores at its distance alone", async () => {
    const page = await open("order.html#kind=relative");
    const before = await readMatrix(page, "Z");
    await cell(page, "b", 0, 5).focus();
    await page.keyboard.type("2.5");
    await page.keyboard.press("Enter");
    const after = await readMatrix(page, "Z");
    after.forEach((row, i) => {
      row.forEach((score, j) => {
        expect(Math.abs(score - (before[i]?.[j] ?? Number.NaN) - (j - i === 1 ? 2 : 0))).toBeLessThanOrEqual(0.0101);
      });
    });
    await reload(page);
    expect(await readMatrix(page, "Z")).toEqual(after);
  });
});

test.each(["causal", "rope", "alibi", "relative"])(
  "the copied heed call with %s runs and gives the outputs on the page",
  async (kind) => {
    const page = await open(`order.html#kind=${kind}&order=4.1.2.3.0`, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await kernelAnswered(page);
    compare(await readMatrix(page, "O"), await runUnderNode(await copied(page, "heed")));
  },
);

test("own sentences, no words, one word, right-to-left words and emoji", async () => {
  const page = await open("order.html#kind=sinusoidal");
  const sentence = page.locator("#sentence");
  await sentence.fill("");
  expect(await page.locator(".field-message").textContent()).toContain("No words yet");
  await sentence.fill("alone");
  expect(await readMatrix(page, "A")).toEqual([[1]]);
  await sentence.fill("שלום 👩‍👩‍👧 Donaudampfschifffahrtsgesellschaftskapitän");
  await kernelAnswered(page);
  expect(await words(page)).toHaveLength(3);
  await sentence.fill("a b c d e f g h i j k l");
  expect(await words(page)).toHaveLength(10);
});

test("an address with nonsense in it is read as far as it makes sense", async () => {
  const page = await open("order.html#order=4.4.1&kind=magic&shift=-2&base=77&x=3_1&bias=2_1&word=99&slope=x");
  await kernelAnswered(page);
  expect(await words(page)).toEqual(["Susan", "gave", "roses", "to", "Mary"]);
});
