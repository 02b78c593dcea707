// Numbers that are typed, pasted or written in an address: none is lost, and none is refused without a word.

import { describe, expect, test } from "vitest";
import { formatSingle } from "../../../web/src/viz/numbers.js";
import { demoInChromium } from "./chromium.js";
import { copied } from "./copied.js";
import { cell, hashOf, readMatrix, reload } from "./page.js";

const BOUNDS = "Numbers from −10,000 to 10,000.";

const { answered, open } = demoInChromium();

describe("the fewest digits that are read back as the same f32", () => {
  test.each([
    [3.6, "3.6"],
    [Math.fround(3.6), "3.6"],
    [0.00001, "0.00001"],
    [1 / 3, "0.33333333"],
    [16_777_216, "16777216"],
    [-0.1, "-0.1"],
    [0, "0"],
    [2 ** -149, "1e-45"],
  ])("%s is %s", (value, text) => {
    expect(formatSingle(value)).toBe(text);
  });

  test("reads back, whatever the number, and one digit less would not", () => {
    let seed = 1;
    for (let turn = 0; turn < 20_000; turn++) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      const [value = 0] = new Float32Array(Uint32Array.of(seed).buffer);
      if (!Number.isFinite(value)) continue;
      const text = formatSingle(value);
      expect(Math.fround(Number(text)), text).toBe(value);
      const digits = text.replace(/e.*|[-.]/g, "").replace(/^0+|0+$/g, "").length;
      if (digits > 1) expect(Math.fround(Number(value.toPrecision(digits - 1))), text).not.toBe(value);
    }
  });
});

test.each(["abc", "1e30", "1e39", "NaN", ""])(
  "the readout says why %j is not taken, until it is mended",
  async (typed) => {
    const page = await open("matrix-walk.html#cell=X.0.0");
    const [field, trouble] = [
      page.locator(".readout-editor input[type=text]"),
      page.locator(".readout-editor .trouble"),
    ];
    const before = await field.inputValue();
    await field.fill(typed);
    await field.press("Enter");
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await trouble.textContent()).toBe(BOUNDS);
    expect(await page.locator(".readout-result").textContent()).toBe(before);
    await field.fill("1,5");
    expect(await field.getAttribute("aria-invalid")).toBeNull();
    expect(await trouble.textContent()).toBe("");
    await field.press("Enter");
    await expect.poll(() => page.locator(".readout-result").textContent()).toBe("1.5");
  },
);

test("a cell says why a text is not taken, and keeps its number", async () => {
  const page = await open("dictionary.html");
  const [query, trouble] = [cell(page, "Q", 0, 0), page.locator('heed-matrix[data-name="Q"] .matrix-trouble')];
  const before = await readMatrix(page, "Q");
  await query.press("Enter");
  await page.keyboard.type("12345");
  await page.keyboard.press("Enter");
  expect(await query.locator("input").getAttribute("aria-invalid")).toBe("true");
  expect(await trouble.textContent()).toBe(BOUNDS);
  await page.keyboard.press("Backspace");
  expect(await query.locator("input").getAttribute("aria-invalid")).toBeNull();
  expect(await trouble.textContent()).toBe("");
  await page.keyboard.press("Escape");
  expect(await readMatrix(page, "Q")).toEqual(before);
  await query.press("Enter");
  await page.keyboard.type("abc");
  await cell(page, "K", 0, 0).click();
  expect(await trouble.textContent()).toBe(`“abc” was not taken. ${BOUNDS}`);
  expect(await readMatrix(page, "Q")).toEqual(before);
  await query.press("Enter");
  await page.keyboard.type("3");
  await page.keyboard.press("Enter");
  expect(await trouble.textContent()).toBe("");
  expect((await readMatrix(page, "Q"))[0]?.[0]).toBe(3);
});

test("what is typed into a dark cell is seen", async () => {
  const page = await open("dictionary.html#q=4_3_3_3_3");
  await cell(page, "Q", 0, 0).press("Enter");
  const [ink, ground] = await cell(page, "Q", 0, 0)
    .locator("input")
    .evaluate((input) => [getComputedStyle(input).color, getComputedStyle(input).backgroundColor]);
  expect(ink).not.toBe(ground);
  const lightness = (colour: string | undefined): number => Number(/oklch\(([\d.]+)/.exec(colour ?? "")?.[1]);
  expect(Math.abs(lightness(ink) - lightness(ground))).toBeGreaterThan(0.5);
});

test("small numbers are in the address as they were typed", async () => {
  const page = await open("matrix-walk.html#cell=X.0.0");
  const field = page.locator(".readout-editor input[type=text]");
  await field.fill("0.00001");
  await field.press("Enter");
  await expect.poll(() => hashOf(page)).toContain("_0.00001_");
  await reload(page);
  expect(await field.inputValue()).toBe("0.00001");
});

test("an f32 number is shown as it was written", async () => {
  const page = await open("dictionary.html#of=salary&q=1_3.6&cell=Q.0.0");
  expect(await page.locator(".readout-editor input[type=text]").inputValue()).toBe("3.6");
  await cell(page, "Q", 0, 0).press("Enter");
  expect(await cell(page, "Q", 0, 0).locator("input").inputValue()).toBe("3.6");
  await page.keyboard.press("Escape");
  await cell(page, "Q", 0, 0).press("+");
  await expect.poll(() => hashOf(page)).toContain("q=1_3.7");
});

test.each([
  ["dictionary.html#q=4_1e300_1_1_1", "Q", [10_000, 1, 1, 1]],
  ["matrix-walk.html#x=3_1e308_-1e308_5_1_2_3", "X", [10_000, -10_000, 5]],
] as const)("%s is brought to what can be typed", async (address, name, row) => {
  const page = await answered(address);
  expect((await readMatrix(page, name))[0]).toEqual(row);
  expect(await page.locator("main").innerText()).not.toContain("NaN");
  await cell(page, name, 0, 2).press("Delete");
  await expect.poll(() => hashOf(page)).toContain("10000");
});

test("an address of before is read as it is", async () => {
  const page = await open("dictionary.html#q=4_0.5_-0.25_1_1");
  expect((await readMatrix(page, "Q"))[0]).toEqual([0.5, -0.25, 1, 1]);
});

test.each(["matrix-walk.html#t=", "order.html#t="])(
  "%s copies as code that says that there is nothing",
  async (address) => {
    const page = await open(address, { permissions: ["clipboard-read", "clipboard-write"] });
    expect(await copied(page, "heed")).toBe("// Nothing to compute: there are no words yet.\n");
    expect(await copied(page, "torch")).toBe("# Nothing to compute: there are no words yet.\n");
  },
);
