// The page that times the device, and the address that carries its result.

import type { Page } from "playwright";
import { expect, test } from "vitest";
import { axeFindings, demoInChromium } from "./chromium.js";

const PAGE = "speed.html";
const { open } = demoInChromium();

const SENT =
  "#on=2026-11-28,+heed+0.1.0:+Firefox+150,+8+cores,+isolated:+no,+SIMD&ms=a512~1.5~1.25~2_t12~30~20~40_a2048~9~10~1_x!~1~1~1";

const status = (page: Page) => page.locator("#speed [role=status]");
const rowOf = (page: Page, name: string) => page.getByRole("row", { name: new RegExp(`^${name}`) }).first();

/** Presses the button that copies, and takes what it would copy. */
async function sharedFrom(page: Page): Promise<string> {
  await page.evaluate(() => {
    const clipboard = { writeText: async (text: string) => Reflect.set(window, "copied", text) };
    Object.defineProperty(navigator, "clipboard", { value: clipboard });
  });
  await page.getByRole("button", { name: "Copy an address" }).click();
  return await page.evaluate(() => String(Reflect.get(window, "copied")));
}

test("times what runs here, says what does not, and its address shows the same figures to somebody else", {
  timeout: 300_000,
}, async () => {
  const page = await open(PAGE);
  expect(await page.locator("#speed table").count()).toBe(0);
  expect(await rowOf(page, "heed/text").getByRole("cell").innerText()).toMatch(/^\d+(?:\.\d+)? kB$/);
  await page.getByRole("button", { name: "Time this device" }).click();
  await expect.poll(() => status(page).innerText(), { timeout: 280_000 }).toBe("Timed.");
  const figures = await page.locator("#speed tr:not(.absent) td:nth-child(2)").allInnerTexts();
  expect(figures.length).toBeGreaterThanOrEqual(9);
  for (const figure of figures) {
    const [median = 0, least = 0, most = 0] = (figure.match(/[\d.]+/g) ?? []).map(Number);
    expect(least, figure).toBeGreaterThan(0);
    expect(median, figure).toBeGreaterThanOrEqual(least);
    expect(most, figure).toBeGreaterThanOrEqual(median);
  }
  const address = await sharedFrom(page);
  expect(address.length).toBeLessThan(1000);

  const other = await open(`${PAGE}#${address.split("#")[1]}`);
  expect(await other.locator(".speed-sent").innerText()).toMatch(/^Recorded by the sender .* cores, isolated: yes/);
  const recorded = await other.locator("#speed tbody tr td:nth-child(4)").allInnerTexts();
  const number = (text: string): number => Number(/^[\d.]+/.exec(text)?.[0]);
  const theirs = recorded.filter((text) => text !== "").map(number);
  expect(theirs.length).toBe(figures.length);
  // An address has three digits.
  for (const [at, figure] of figures.entries()) expect((theirs[at] ?? 0) / number(figure)).toBeCloseTo(1, 1.5);
});

test("figures of an address are marked as recorded, and what is no figure is left out", async () => {
  const page = await open(PAGE + SENT);
  expect(await page.locator(".speed-sent").innerText()).toMatch(
    /^Recorded by the sender of this address, 2026-11-28, heed 0\.1\.0: Firefox 150, 8 cores, isolated: no, SIMD\./,
  );
  const cells = await rowOf(page, "512 tokens").getByRole("cell").allInnerTexts();
  expect(cells.slice(0, 3)).toEqual(["", "", "1.5 ms 1.25 to 2"]);
  expect((await rowOf(page, "2,048 tokens").getByRole("cell").allInnerTexts()).join("")).toBe("");
});

test("stops when it is told to", async () => {
  const page = await open(PAGE);
  await page.getByRole("button", { name: "Time this device" }).click();
  await page.getByRole("button", { name: "Stop" }).click();
  await expect.poll(() => status(page).innerText()).toBe("Stopped.");
  expect(await page.getByRole("button", { name: "Copy an address" }).isVisible()).toBe(false);
});

test("has nothing that axe objects to, and is not too wide", async () => {
  for (const width of [1280, 390]) {
    const page = await open(PAGE + SENT, { viewport: { width, height: 800 } });
    expect(await axeFindings(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await axeFindings(page, { colours: true })).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
});
