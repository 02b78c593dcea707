// Room 1 in real Chromium: a cabinet that is asked, and the answers that the reference gives to the same question.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { attention, type ReferenceOptions } from "../../../web/src/reference/index.js";
import { demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import { compare, HALF_OF_FOUR_DECIMALS, halfOfCell, inOne, total } from "./numbers.js";
import { cell, hashOf, hover, kernelAnswered, readMatrix, readNumber, readTold, reload } from "./page.js";
import { jsonOf, saved } from "./saved.js";

const { answered, open } = demoInChromium();

type Rows = readonly (readonly number[])[];

interface Numbers {
  readonly Q: Rows;
  readonly K: Rows;
  readonly V: Rows;
}

/** What the reference makes of the matrices that the page hands out. */
async function expected(page: Page, options: ReferenceOptions) {
  const { Q, K, V } = await jsonOf<Numbers>(page, "numbers");
  return attention(inOne(Q), inOne(K), inOne(V), options);
}

const shares = async (page: Page): Promise<number[]> =>
  (await page.locator(".drawer-share").allTextContents()).map((text) => readNumber(text.replace(/[<%]/g, "")) / 100);

const answer = async (page: Page): Promise<string> => (await page.locator(".answer").textContent()) ?? "";

describe("scores, shares and answers are those of the reference", () => {
  test.each<[string, ReferenceOptions]>([
    ["dictionary.html", { score: "cosine", temperature: 0.1 }],
    ["dictionary.html#score=dot&T=2", { score: "dot", temperature: 2 }],
    ["dictionary.html#score=rbf&b=1.5&T=0.7", { score: { type: "rbf", bandwidth: 1.5 }, temperature: 0.7 }],
    ["dictionary.html#T=0", { score: "cosine", normalize: "hard" }],
    ["dictionary.html#T=inf", { score: "cosine", scale: 0 }],
    ["dictionary.html#of=salary", { score: { type: "rbf", bandwidth: 0.15 } }],
    ["dictionary.html#of=movies", { score: "dot", temperature: 0.3 }],
    ["dictionary.html#of=movies&score=cosine&T=0.05&who=2", { score: "cosine", temperature: 0.05 }],
  ])("%s", async (path, options) => {
    const page = await answered(path);
    const wanted = await expected(page, options);
    compare(await readMatrix(page, "A"), wanted.weights.data);
    compare(await readMatrix(page, "O"), wanted.output.data);
    const unscaled = await expected(page, { ...options, scale: 1, temperature: 1 });
    compare(await readMatrix(page, "S"), unscaled.scores.raw.data);
  });
});

describe("the cabinet", () => {
  test("without heat it is an exact lookup; a dot product finds the louder card instead", async () => {
    const page = await open("dictionary.html#T=0");
    expect(await answer(page)).toBe("The answer: psychology 100\u00a0%.");
    expect((await shares(page))[0]).toBe(1);
    await page.getByRole("group", { name: "Alike by" }).getByRole("radio", { name: "dot product" }).check();
    expect(await answer(page)).toBe("The answer: law 100\u00a0%.");
  });

  test("with endless heat every drawer opens alike", async () => {
    const page = await open("dictionary.html");
    await page.getByRole("slider", { name: "Temperature T" }).press("End");
    expect(await hashOf(page)).toContain("T=inf");
    await kernelAnswered(page);
    expect(new Set(await shares(page))).toEqual(new Set([0.14]));
    expect(total((await readMatrix(page, "O"))[0] ?? [])).toBeCloseTo(1, 1);
  });

  test("pressing a drawer asks with its card", async () => {
    const page = await open("dictionary.html");
    const drawer = page.getByRole("button", { name: "Ada Moe" });
    await drawer.press("Enter");
    expect(await drawer.getAttribute("aria-pressed")).toBe("true");
    expect(await readMatrix(page, "Q")).toEqual([[0, 3, 1, 3]]);
    expect(await answer(page)).toMatch(/^The answer: engineering \d\d\u00a0%/);
    await reload(page);
    expect(await readMatrix(page, "Q")).toEqual([[0, 3, 1, 3]]);
  });

  test("a number that is typed into a card changes what is found", async () => {
    const page = await open("dictionary.html#T=0");
    await cell(page, "K", 0, 0).focus();
    await page.keyboard.type("0");
    await page.keyboard.press("Enter");
    expect((await readMatrix(page, "K"))[0]).toEqual([0, 1, 1, 0]);
    expect(await answer(page)).toBe("The answer: law 100\u00a0%.");
    await page.getByRole("button", { name: "Reset" }).click();
    expect((await readMatrix(page, "K"))[0]).toEqual([3, 1, 1, 0]);
    expect(await page.evaluate(() => location.href)).not.toContain("#");
  });
});

describe("grades and salaries", () => {
  test("the curve is the estimate of Nadaraya and Watson", async () => {
    const page = await answered("dictionary.html#of=salary&b=0.3");
    const { K, V } = await jsonOf<Numbers>(page, "numbers");
    const curve = await jsonOf<{ grades: number[]; estimates: number[] }>(page, "curve");
    expect(curve.grades).toHaveLength(61);
    curve.grades.forEach((grade, index) => {
      const kernels = K.map(([key = Number.NaN]) => Math.exp(-((grade - key) ** 2) / (2 * 0.3 ** 2)));
      const sum = total(kernels.map((kernel, row) => kernel * (V[row]?.[0] ?? Number.NaN)));
      // Single precision: some rounding errors of a salary.
      expect(Math.abs((curve.estimates[index] ?? Number.NaN) - sum / total(kernels))).toBeLessThan(1e-4);
    });
  });

  test("asking along the curve, by key", async () => {
    const page = await open("dictionary.html#of=salary");
    await page.getByRole("slider", { name: /Estimated salary/ }).press("ArrowRight");
    expect(await readMatrix(page, "Q")).toEqual([[3.35]]);
    await page.getByRole("slider", { name: "Ask for a GPA of" }).press("Home");
    expect(await readMatrix(page, "Q")).toEqual([[1.5]]);
  });

  test("by dot product the highest grade wins, whoever asks", async () => {
    const page = await open("dictionary.html#of=salary&score=dot&T=0");
    expect((await shares(page)).at(-1)).toBe(1);
    await page.getByRole("slider", { name: "Ask for a GPA of" }).press("Home");
    expect((await shares(page)).at(-1)).toBe(1);
  });
});

test("the address remembers what is the usual choice of another cabinet", async () => {
  const page = await open("dictionary.html#of=salary");
  const cosine = page.getByRole("group", { name: "Alike by" }).getByRole("radio", { name: "cosine" });
  await cosine.check();
  await reload(page);
  expect(await cosine.isChecked()).toBe(true);
});

test("two minuses make a plus, and a loud movie wins by dot product but not by cosine", async () => {
  const page = await open("dictionary.html#of=movies&who=3");
  await hover(page, "S", 3, 4);
  const told = await readTold(page);
  expect(told.terms[0]).toEqual([-0.5, -0.9, 0.45]);
  expect(Math.abs(told.result - total(told.terms.map(([a = 0, b = 0]) => a * b)))).toBeLessThan(HALF_OF_FOUR_DECIMALS);
  const cleo = page.locator(".tastes tr", { hasText: "Cleo" });
  expect(await cleo.locator("td").allTextContents()).toEqual([
    expect.stringMatching(/^All at Once/),
    expect.stringMatching(/^Two Left Feet/),
  ]);
});

test("a weight tells the powers it is made from", async () => {
  const page = await answered("dictionary.html");
  await hover(page, "A", 0, 1);
  const told = await readTold(page);
  expect(told.subject).toBe("weight [you ask, Sam Coe]");
  expect(told.terms).toHaveLength(7);
  const powers = told.terms.map(([, power = Number.NaN]) => power);
  // Seven powers, each rounded at the fourth decimal.
  expect(Math.abs(told.result - (powers[1] ?? Number.NaN) / total(powers))).toBeLessThan(8 * HALF_OF_FOUR_DECIMALS);
  expect(told.kernel).toMatch(/heed computes/);
});

test("an address with nonsense in it is read as far as it makes sense", async () => {
  const page = await answered("dictionary.html#of=movies&T=-3&b=hot&score=maybe&q=2_1_1&who=77");
  expect((await readMatrix(page, "Q"))[0]).toEqual([-0.8, 0.6, 0.3]);
  expect((await shares(page)).filter((share) => share === 1)).toHaveLength(1);
});

test.each(["dictionary.html", "dictionary.html#T=0", "dictionary.html#of=movies&score=rbf&T=inf"])(
  "the copied heed call runs and gives the answer on the page: %s",
  async (path) => {
    const page = await answered(path, { permissions: ["clipboard-read", "clipboard-write"] });
    const shown = (await readMatrix(page, "O")).flat();
    const found = await runUnderNode(await copied(page, "heed"));
    shown.forEach((value, index) => {
      const wanted = found[index] ?? Number.NaN;
      expect(Math.abs(value - wanted)).toBeLessThanOrEqual(halfOfCell(wanted));
    });
    expect(await copied(page, "torch")).toContain("output = weights @ v");
  },
);

test("the cabinet can be taken away as SVG and PNG", async () => {
  const page = await answered("dictionary.html");
  const drawing = (await saved(page, "cabinet", "SVG")).toString("utf8");
  expect(drawing).toContain(">John Doe</text>");
  expect(drawing).not.toMatch(/oklch|color-mix|var\(/);
  expect((await saved(page, "cabinet", "PNG")).length).toBeGreaterThan(5_000);
});
