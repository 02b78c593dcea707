// The question of each room: the guess itself brings the answer into the picture.

import type { Page } from "playwright";
import { expect, test } from "vitest";
import { axeFindings, demoInChromium } from "./chromium.js";
import { readMatrix } from "./page.js";

const { answered } = demoInChromium();

const text = (page: Page, selector: string) => page.locator(selector).first().innerText();

/** What the picture says once it shows the answer, by means of its own. */
const ROOMS: readonly (readonly [
  room: string,
  right: string,
  sees: (page: Page) => Promise<unknown>,
  wanted: unknown,
])[] = [
  ["dictionary", "the best drawer alone", async (page) => await page.evaluate(() => location.hash), "#T=0"],
  [
    "matrix-walk",
    "animal",
    async (page) => {
      const row = (await readMatrix(page, "A"))[7] ?? [];
      return row.indexOf(Math.max(...row));
    },
    1,
  ],
  [
    "score-lab",
    "k2",
    async (page) => {
      const labels = await page.locator(".plane-label").evaluateAll((all) => all.map((one) => one.textContent ?? ""));
      const weight = (key: string): number =>
        Number.parseInt(labels.find((label) => label.startsWith(key))?.slice(3) ?? "", 10);
      return weight("k2") > weight("k1");
    },
    true,
  ],
  [
    "scale",
    "about one",
    async (page) => Number.parseFloat(await text(page, ".figures div:nth-child(2) dd")) < 1.5,
    true,
  ],
  ["masks", "0", async (page) => (await readMatrix(page, "A"))[6], Array(12).fill(0)],
  [
    "heads",
    "as much as before",
    async (page) => page.getByRole("group", { name: "Heads h" }).getByRole("radio", { name: "8" }).isChecked(),
    true,
  ],
  ["order", "none of them", async (page) => /^Nobody noticed/.test(await text(page, ".verdict")), true],
  ["what-else", "nine", async (page) => page.locator('[data-picture="convolution"]').isVisible(), true],
  [
    "language",
    "more",
    async (page) =>
      (await page.locator(".bar-row").allInnerTexts()).filter(
        (row) => Number.parseInt(/(\d+)\s%/.exec(row)?.[1] ?? "0", 10) >= 3 && !row.includes("<"),
      ).length > 4,
    true,
  ],
];

test.each(ROOMS)("%s", async (room, right, sees, wanted) => {
  const page = await answered(`${room}.html`, { alone: true });
  const guess = page.locator(".guess");
  await guess.getByRole("button", { name: right, exact: true }).click();
  await expect.poll(() => guess.locator(".guess-said").innerText()).toMatch(/^Yes\. /);
  expect(await page.locator("#score").innerText()).toBe("Guessed right: 1 of 1.");
  await expect.poll(() => sees(page)).toEqual(wanted);
  expect(await axeFindings(page, { within: ".guess" })).toEqual([]);
});

test("is one tab stop, and its answers are chosen by the arrows", async () => {
  const page = await answered("language.html", { alone: true });
  const focused = () => page.locator(".guess button:focus").innerText();
  await page.locator(".guess button").first().focus();
  await page.keyboard.press("ArrowLeft");
  expect(await focused()).toBe("fewer");
  for (const name of ["as many", "more", "more"]) {
    await page.keyboard.press("ArrowRight");
    expect(await focused()).toBe(name);
  }
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("sentence");
  await page.keyboard.press("Shift+Tab");
  expect(await focused()).toBe("more");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator(".guess-said").innerText()).toMatch(/^Yes\. /);
});

test("a wrong guess is told the answer", async () => {
  const page = await answered("scale.html", { alone: true });
  await page.locator(".guess").getByRole("button", { name: "all" }).click();
  expect(await page.locator(".guess-said").innerText()).toMatch(/^No: about one\. /);
  expect(await page.locator("#score").innerText()).toBe("Guessed right: 0 of 1.");
});
