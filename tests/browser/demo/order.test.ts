// Room 7 in real Chromium: words moved about, positions given to them, and what must and must not change.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { attention, type ReferenceOptions } from "../../../web/src/reference/index.js";
import { demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import { column, compare, dot, HALF_OF_FOUR_DECIMALS, total } from "./numbers.js";
import { cell, hover, kernelAnswered, readMatrix, readTold, reload } from "./page.js";
import { jsonOf } from "./saved.js";

const { answered, open } = demoInChromium();

type Rows = readonly (readonly number[])[];

const words = (page: Page): Promise<string[]> => page.locator(".order-word").allTextContents();
const said = async (page: Page): Promise<string> => (await page.locator(".verdict").textContent()) ?? "";
const word = (page: Page, text: string) => page.locator(".order-word", { hasText: new RegExp(`^${text}$`) });
const trial = async (page: Page, kind: string): Promise<string[]> =>
  page.locator(`.trials tr[data-kind="${kind}"] td b`).allTextContents();

describe("without positions", () => {
  test("a dragged word keeps its output, and the outputs move along with the words", async () => {
    const page = await answered("order.html");
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
    // The page computes in double precision, the kernel in f32.
    expect(await said(page)).toMatch(/is rounding, (0|\d\s×\s10⁻¹[⁶⁷]) on this page, (0|\d\s×\s10⁻[⁷⁸]) in heed/);
    const cells = await page.locator('heed-matrix[data-name="D"] td[data-row]').allTextContents();
    expect(cells).toEqual(Array.from({ length: 40 }, () => "0"));
  });

  test("the keyboard moves a word, buttons swap, shuffle and put back, and the address remembers", async () => {
    const page = await open("order.html");
    await word(page, "gave").focus();
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    expect(await words(page)).toEqual(["Susan", "roses", "to", "gave", "Mary"]);
    expect(await page.locator(".order-board [aria-live]").textContent()).toBe("gave, now at place 4 of 5");
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

  test("the attention weights under the words are those of the word in the light", async () => {
    const page = await answered("order.html#order=4.1.2.3.0");
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

interface Box {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Words and figures that are to be seen, by the ink's box. */
const inkOf = (page: Page): Promise<Box[]> =>
  page.evaluate(() => {
    const opacity = (one: Element | null): number =>
      one === null ? 1 : Number(getComputedStyle(one).opacity) * opacity(one.parentElement);
    return Array.from(document.querySelectorAll(".order-word, .order-words small"), (one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      const { left, right, top, bottom } = range.getBoundingClientRect();
      return { text: one.textContent ?? "", left, right, top, bottom, seen: opacity(one) };
    }).filter(({ seen }) => seen > 0.05);
  });

const overlaps = (boxes: readonly Box[]): string[] =>
  boxes.flatMap((a, index) =>
    boxes
      .slice(index + 1)
      .filter((b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
      .map((b) => `${a.text} over ${b.text}`),
  );

const scrub = (page: Page, picture: string, at: number): Promise<void> =>
  page.locator(`[data-picture="${picture}"] .board input[type="range"]`).fill(String(at));

/** The output of the word in the light, as its bars have it. */
const outputs = (page: Page): Promise<number[]> =>
  page
    .locator(".order-board [data-output]")
    .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("data-output"))));

const PLACES = Array.from({ length: 51 }, (_, index) => index / 50);

describe("words that move", () => {
  test("a dragged word travels above the line, under the pointer, and the others make room", async () => {
    const page = await answered("order.html", { reducedMotion: "no-preference" });
    const boxOf = async (text: string) => {
      const box = await word(page, text).boundingBox();
      if (box === null) throw new Error(`no ${text}`);
      return box;
    };
    const [from, to] = [await boxOf("Mary"), await boxOf("Susan")];
    await page.mouse.move(from.x + 20, from.y + 15);
    await page.mouse.down();
    for (const part of [0.25, 0.5, 0.75, 1]) {
      const x = from.x + 20 + (to.x + 10 - from.x - 20) * part;
      await page.mouse.move(x, from.y + 25, { steps: 15 });
      await kernelAnswered(page);
      const held = await boxOf("Mary");
      expect(Math.abs(held.x - (x - 20))).toBeLessThan(1);
      expect(held.y + held.height).toBeLessThanOrEqual(from.y);
      expect((await boxOf("gave")).y).toBe(from.y);
      expect(overlaps(await inkOf(page))).toEqual([]);
    }
    await page.mouse.up();
    expect(await words(page)).toEqual(["Mary", "Susan", "gave", "roses", "to"]);
    await expect.poll(async () => Math.abs((await boxOf("Mary")).y - from.y)).toBeLessThan(1);
    await expect.poll(async () => Math.abs((await boxOf("Mary")).x - to.x)).toBeLessThan(1);
  });

  test.each([
    ["a swap", "Swap “Susan” and “Mary”", 1280],
    ["a shuffle", "Shuffle the words", 1280],
    ["a step to the right", "Move the word in the light to the right", 1280],
    ["a swap on a phone", "Swap “Susan” and “Mary”", 390],
    ["a shuffle on a phone", "Shuffle the words", 390],
  ])("in %s no word and no figure is ever over another, and the way back is the same", async (_, name, width) => {
    const page = await answered("order.html", { viewport: { width, height: 844 } });
    const before = await words(page);
    await page.getByRole("button", { name }).click();
    expect(await words(page)).not.toEqual(before);
    const seen: string[] = [];
    for (const at of PLACES) {
      await scrub(page, "words", at);
      const ink = await inkOf(page);
      expect(overlaps(ink), `at ${at}`).toEqual([]);
      seen.push(JSON.stringify(ink));
    }
    for (const [index, at] of [...PLACES.entries()].reverse()) {
      await scrub(page, "words", at);
      // The same words may be listed in another order.
      const sorted = (text: string): unknown =>
        JSON.parse(text).sort((a: Box, b: Box) => a.left - b.left || a.top - b.top);
      expect(sorted(JSON.stringify(await inkOf(page))), `back at ${at}`).toEqual(sorted(seen[index] ?? "[]"));
    }
    expect(await words(page)).toEqual(before);
  });

  test("the output of “gave” is the same at each place of the swap, until there are positions", async () => {
    const page = await answered("order.html");
    const widest = async (): Promise<number> => {
      await scrub(page, "words", 0);
      const first = await outputs(page);
      expect(first).toHaveLength(8);
      expect(Math.max(...first.map(Math.abs))).toBeGreaterThan(0.1);
      const gaps: number[] = [];
      for (const at of PLACES) {
        await scrub(page, "words", at);
        gaps.push(...(await outputs(page)).map((value, col) => Math.abs(value - (first[col] ?? Number.NaN))));
      }
      return Math.max(...gaps);
    };
    expect(await widest()).toBeLessThan(1e-6);
    await page.getByRole("radio", { name: "rotary" }).check();
    expect(await widest()).toBeGreaterThan(0.01);
  });

  test("a sentence that runs from the right is moved by what one sees", async () => {
    const page = await open("order.html");
    await page.locator("#sentence").fill("שלום עולם קצר");
    const seen = (): Promise<(string | null)[]> =>
      page
        .locator(".order-word")
        .evaluateAll((all) =>
          [...all]
            .sort((a, b) => a.getBoundingClientRect().left - b.getBoundingClientRect().left)
            .map(({ textContent }) => textContent),
        );
    expect(await seen()).toEqual(["קצר", "עולם", "שלום"]);
    await word(page, "עולם").click();
    await page.getByRole("button", { name: "Move the word in the light to the left" }).click();
    expect(await seen()).toEqual(["עולם", "קצר", "שלום"]);
    await word(page, "עולם").press("Shift+ArrowRight");
    expect(await seen()).toEqual(["קצר", "עולם", "שלום"]);
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
      const page = await answered(
        `order.html#kind=${kind}&order=${order.join(".")}&shift=${shift}&base=100&slope=0.25`,
      );
      const { X, Wq, Wk } = await jsonOf<Vectors>(page, "words");
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
    const page = await answered("order.html");
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
    expect(await said(page)).toContain("Nobody noticed");
    await page.getByRole("radio", { name: "rotary" }).check();
    await kernelAnswered(page);
    const besideButtons = page.locator(".controls-options", { has: page.getByRole("radio", { name: "rotary" }) });
    expect(await besideButtons.textContent()).toContain("Queries and keys turn");
    expect(await said(page)).toMatch(/^Noticed: .* by up to 0\.\d+ on this page/);
  });

  test("both hands of a clock turn while the sentence slides, and the angle between them stays", async () => {
    const page = await answered("order.html#kind=rope&base=10");
    const read = () =>
      page.locator('[data-picture="positions"] .board svg').evaluate((svg) => ({
        angles: Array.from(svg.querySelectorAll("[data-angle]"), (one) => Number(one.getAttribute("data-angle"))),
        hands: Array.from(svg.querySelectorAll('[data-pick^="Q."]'), (one) => one.getAttribute("d")),
      }));
    const first = await read();
    expect(first.angles).toHaveLength(4);
    for (const at of [0.5, 1.7, 3, 4]) {
      await scrub(page, "positions", at);
      const { angles, hands } = await read();
      expect(hands[0]).not.toBe(first.hands[0]);
      angles.forEach((angle, pair) => {
        const gap = angle - (first.angles[pair] ?? Number.NaN);
        expect(Math.abs(Math.atan2(Math.sin(gap), Math.cos(gap)))).toBeLessThan(1e-9);
      });
    }
    await scrub(page, "positions", 0);
    expect(await read()).toEqual(first);
  });

  test.each([
    ["sinusoidal", "P"],
    ["learned", "P"],
    ["alibi", "B"],
    ["relative", "B"],
  ])("%s: what is pressed in the picture tells its number", async (kind, name) => {
    const page = await answered(`order.html#kind=${kind}`);
    await page.locator(`[data-picture="positions"] circle[data-pick="${name}.1.3"]`).click();
    const { result } = await readTold(page);
    expect(Math.abs(result - ((await readMatrix(page, name))[1]?.[3] ?? Number.NaN))).toBeLessThanOrEqual(0.0051);
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
    const page = await answered(`order.html#kind=${kind}&order=4.1.2.3.0`, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
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
  const page = await answered("order.html#order=4.4.1&kind=magic&shift=-2&base=77&x=3_1&bias=2_1&word=99&slope=x");
  expect(await words(page)).toEqual(["Susan", "gave", "roses", "to", "Mary"]);
});
