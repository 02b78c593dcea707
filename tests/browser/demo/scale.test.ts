// Room 3 in real Chromium: what a person does with scale and temperature, and the numbers that must follow.

import type { Locator, Page } from "playwright";
import { describe, expect, test } from "vitest";
import { attention } from "../../../web/src/reference/index.js";
import { demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import { compare, HALF_OF_FOUR_DECIMALS, halfOfCell, inOne, total } from "./numbers.js";
import { hashOf, hover, kernelAnswered, linesOf, readMatrix, readNumber, readTold, reload } from "./page.js";
import { jsonOf, saved } from "./saved.js";

const { answered, open } = demoInChromium();

interface Row {
  readonly q: readonly (readonly number[])[];
  readonly k: readonly (readonly number[])[];
  readonly scores: readonly number[];
  readonly weights: readonly number[];
  readonly entropy: number;
}

/** The vectors as the page hands them out. */
const rowOf = (page: Page): Promise<Row> => jsonOf<Row>(page, "row");

const figure = async (page: Page, name: string): Promise<number> => {
  const term = page.locator(".figures dt", { hasText: name });
  return readNumber(((await term.locator("xpath=../dd").textContent()) ?? "").split(" ")[0] ?? "");
};

describe("the row that is shown", () => {
  test.each([
    ["scale.html", 1],
    ["scale.html#d=12&scale=root&T=0.5&n=5&seed=7", 1 / Math.sqrt(12) / 0.5],
    ["scale.html#d=512&T=20&n=12&like=0.6", 1 / 20],
  ])("%s: scores, shares and entropy are those of the reference", async (path, factor) => {
    const page = await answered(path);
    const { q, k } = await rowOf(page);
    const expected = attention(inOne(q), inOne(k), inOne(k), { scale: factor });
    const raw = await readMatrix(page, "S");
    raw[0]?.forEach((score, key) => {
      const products = q[0]?.map((component, index) => component * (k[key]?.[index] ?? Number.NaN)) ?? [];
      const sum = total(products);
      expect(Math.abs(score - sum)).toBeLessThanOrEqual(halfOfCell(sum));
    });
    compare(await readMatrix(page, "A"), expected.weights.data);
    expect(Math.abs((await figure(page, "Entropy")) - (expected.entropy.data[0] ?? Number.NaN))).toBeLessThanOrEqual(
      0.0005,
    );
  });

  test("dividing by √d takes the page from one key that takes all to shares that can move", async () => {
    const page = await open("scale.html#d=256");
    const before = { entropy: await figure(page, "Entropy"), slope: await figure(page, "Gradient left") };
    await page.getByRole("group", { name: "Divide scores by √d" }).getByRole("radio", { name: "yes" }).check();
    await kernelAnswered(page);
    expect(await figure(page, "Entropy")).toBeGreaterThan(before.entropy + 0.5);
    expect(await figure(page, "Gradient left")).toBeGreaterThan(before.slope * 3);
    expect(await hashOf(page)).toContain("scale=root");
  });

  test("a score tells all of its products, and they add up", async () => {
    const page = await open("scale.html#d=96");
    await hover(page, "S", 0, 2);
    const told = await readTold(page);
    expect(told.subject).toBe("q · k3");
    expect(told.terms).toHaveLength(96);
    const sum = total(told.terms.map(([a = Number.NaN, b = Number.NaN]) => a * b));
    // The components have two decimals and are shown with four: the products are exact.
    expect(Math.abs(sum - told.result)).toBeLessThanOrEqual(HALF_OF_FOUR_DECIMALS);
  });

  test("a share of next to nothing is told as what it is", async () => {
    const page = await answered("scale.html#d=512&n=3");
    const scores = (await rowOf(page)).scores;
    const least = scores.indexOf(Math.min(...scores));
    await hover(page, "A", 0, least);
    const [told, wanted] = [await readTold(page), (await rowOf(page)).weights[least] ?? Number.NaN];
    expect(wanted).toBeLessThan(1e-4);
    // Two digits.
    expect(Math.abs(told.result / wanted - 1)).toBeLessThan(0.05);
    expect(told.last.replaceAll("−", "-")).toContain(` = ${told.result.toExponential(1)}`);
  });
});

async function columnOf(chart: Locator, index: number): Promise<number[]> {
  const cells = (await linesOf(chart)).locator(`:nth-child(${index + 1})`);
  return (await cells.allTextContents()).map(readNumber);
}

test.each([
  ["scale.html#d=64", 64],
  ["scale.html#d=256", 256],
  ["scale.html#d=256&scale=root", 1],
])("the histogram of %s is as wide as the scores", async (address, variance) => {
  const page = await open(address);
  const chart = page.locator('[data-picture="row"] heed-chart');
  const [scores, parts] = [await columnOf(chart, 0), await columnOf(chart, 1)];
  expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(1, 2);
  const squares = parts.reduce((sum, part, bin) => sum + part * (scores[bin] ?? Number.NaN) ** 2, 0);
  // Bins of width 2 add its square over 12, where a bin is narrow beside the distribution; the outermost bins hold what lies beyond them.
  const width = Number(/d=(\d+)/.exec(address)?.[1]);
  // 512 scores of 64 queries, as below.
  const bound = 4 * Math.sqrt(1 / (2 * 512) + 1 / (8 * width * 64) + 1 / (2 * 64 * 8));
  expect(Math.abs(Math.sqrt(squares / (variance + 4 / 12)) - 1)).toBeLessThan(bound);
});

test("the ball stands on the largest weight, on a slope of a (1 - a)", async () => {
  const page = await answered("scale.html#d=16");
  const best = Math.max(...(await rowOf(page)).weights);
  const chart = page.locator('[data-picture="slopes"] heed-chart');
  const [steps, weights] = [await columnOf(chart, 0), await columnOf(chart, 1)];
  steps.forEach((step, index) => {
    // The odds grow by e for each unit of the score. The table has four digits.
    const odds = (best / (1 - best)) * Math.exp(step);
    expect(weights[index]).toBeCloseTo(odds / (1 + odds), 3);
  });
});

test("how often key 1 is right does not depend on the temperature, how sure the weights are does", async () => {
  const read = async (temperature: number): Promise<[right: number, sure: number]> => {
    const page = await answered(`scale.html#d=32&scale=root&like=0.3&T=${temperature}`);
    const text = (await page.locator('[data-picture="row"] .picture-text').textContent()) ?? "";
    const [, right, sure] = /for (\d+) of 64 queries.* is (\d+)\s% on average/.exec(text) ?? [];
    return [Number(right), Number(sure)];
  };
  const [cold, hot] = [await read(0.1), await read(5)];
  expect(cold[0]).toBe(hot[0]);
  // At random it would be 8 of 64.
  expect(cold[0]).toBeGreaterThan(16);
  expect(cold[1]).toBeGreaterThan(90);
  expect(hot[1]).toBeLessThan(25);
});

test("the state survives a reload, and another draw gives other numbers", async () => {
  const page = await open("scale.html#d=16&T=2&n=6&like=0.3");
  const before = await readMatrix(page, "S");
  await reload(page);
  expect(await readMatrix(page, "S")).toEqual(before);
  await page.getByRole("button", { name: "Draw again" }).click();
  expect(await readMatrix(page, "S")).not.toEqual(before);
});

test("what is chosen in the moment in which the address changes is chosen there", async () => {
  const page = await answered("scale.html#d=16&n=4");
  // The page hears of the new address only after both.
  await page.evaluate(() => {
    location.hash = "#d=8&n=6";
    document.querySelector<HTMLInputElement>('input[value="root"]')?.click();
  });
  expect((await readMatrix(page, "S"))[0]).toHaveLength(6);
  expect(await hashOf(page)).toBe("#d=8&n=6&scale=root");
  // The choice is an entry of the history, and so is the address.
  await page.goBack();
  await expect.poll(() => hashOf(page)).toBe("#d=8&n=6");
  await page.goBack();
  await expect.poll(() => readMatrix(page, "S").then(([row]) => row?.length)).toBe(4);
});

test("an address with nonsense in it is read as far as it makes sense", async () => {
  const page = await answered("scale.html#d=65&T=hot&n=-4&scale=maybe&like=7&seed=x&over=z");
  expect((await readMatrix(page, "S"))[0]).toHaveLength(2);
  expect((await rowOf(page)).q[0]).toHaveLength(64);
});

test("the copied heed call runs and gives the shares on the page", async () => {
  const page = await answered("scale.html#d=8&scale=root&T=0.7&n=4", {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const shown = await readMatrix(page, "A");
  compare(shown, await runUnderNode(await copied(page, "heed")));
  expect(await copied(page, "torch")).toContain("torch.softmax(q @ k.transpose(-2, -1) * 0.50507");
});

test("a picture can be taken away as SVG and PNG", async () => {
  const page = await answered("scale.html#n=4");
  const drawing = (await saved(page, "row", "SVG")).toString("utf8");
  const texts = await page.evaluate((source) => {
    const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
    return Array.from(parsed.querySelectorAll("text"), ({ textContent }) => textContent);
  }, drawing);
  const shares = await page.locator('heed-matrix[data-name="A"] td[data-row]').allTextContents();
  expect(texts).toEqual(expect.arrayContaining(["k1", "k4", "weight", ...shares]));
  expect(drawing).not.toMatch(/oklch|color-mix|var\(/);
  const png = await saved(page, "slopes", "PNG");
  expect(png.subarray(1, 4).toString("latin1")).toBe("PNG");
  expect(png.length).toBeGreaterThan(10_000);
});
