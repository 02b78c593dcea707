// What must hold on every page of the demo, whatever room it is.

import { brotliCompressSync, constants } from "node:zlib";
import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { PAGES } from "../../../demo/frame.js";
import { axeFindings, demoInChromium, LOOKS } from "./chromium.js";
import { kernelAnswered, reload } from "./page.js";

/** As a host may do it on the fly; the best quality takes seconds a file. */
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const MOST_BYTES = 300_000;

const { open, site } = demoInChromium();

async function timed(page: Page): Promise<void> {
  await kernelAnswered(page);
  await expect.poll(() => page.locator("#status-summary").textContent()).toMatch(/\d [µm]s$/);
}

/** In the page: where each part of the room begins, as soon as all have their places, which is before the kernels are loaded. */
function placesOnceLaidOut(): readonly string[] | undefined {
  if (document.querySelector(".coming, .to-come") !== null) return undefined;
  return Array.from(document.querySelectorAll(".picture, .panel, .room-foot, .code-buttons, footer"))
    .filter((part) => part.checkVisibility())
    .map((part) => {
      const name = part instanceof HTMLElement ? (part.dataset["picture"] ?? part.className) : "";
      return `${name} at ${Math.round(part.getBoundingClientRect().top + scrollY)}`;
    });
}

describe.each(PAGES.map(({ file, name }) => [name, file] as const))("the page %s", (name, file) => {
  test.each(LOOKS)("has nothing that axe objects to, and is not too wide: %o", async ({ width, colorScheme }) => {
    const page = await open(file, { viewport: { width, height: 800 }, colorScheme });
    await kernelAnswered(page);
    expect(await axeFindings(page)).toEqual([]);
    const wider = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(wider).toBeLessThanOrEqual(0);
  });

  test.each([360, 1280])("does not jump while it comes up, nor when one scrolls, at a width of %i", async (width) => {
    const page = await open(file, { viewport: { width, height: 860 }, reducedMotion: "no-preference" });
    const before = await page.waitForFunction(placesOnceLaidOut);
    await timed(page);
    await page.evaluate(async () => {
      const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
      for (let top = 0; top < document.documentElement.scrollHeight - innerHeight; top += 400) {
        scrollTo({ top, behavior: "instant" });
        await new Promise(requestAnimationFrame);
        await pause(20);
      }
      await pause(300);
    });
    const moved = await page.evaluate(
      () =>
        new Promise<number>((done) => {
          let sum = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) sum += "value" in entry ? Number(entry.value) : 0;
          }).observe({ type: "layout-shift", buffered: true });
          setTimeout(() => done(sum), 300);
        }),
    );
    expect(moved).toBeLessThan(0.02);
    const after = await page.waitForFunction(placesOnceLaidOut);
    expect(await after.jsonValue()).toEqual(await before.jsonValue());
  });

  test("keeps the arithmetic to one line on a phone, which opens and closes", async () => {
    const page = await open(file, { viewport: { width: 360, height: 740 }, hasTouch: true });
    const [readout, toggle] = [page.locator(".readout"), page.getByRole("button", { name: "All of the arithmetic" })];
    const height = async (): Promise<number> => (await readout.boundingBox())?.height ?? Number.NaN;
    const sentence = readout.locator(".readout-subject + p");
    await page.locator(".readout-subject").waitFor();
    expect(await height()).toBeLessThan(60);
    expect(await sentence.isVisible()).toBe(false);
    await toggle.tap();
    expect(await toggle.getAttribute("aria-expanded")).toBe("true");
    expect(await sentence.isVisible()).toBe(true);
    expect(await height()).toBeGreaterThan(60);
    expect(await height()).toBeLessThanOrEqual(740 / 2);
    expect(await axeFindings(page)).toEqual([]);
    await toggle.tap();
    expect(await height()).toBeLessThan(60);
  });

  test("comes back to the same place when it is loaded again", async () => {
    const page = await open(file, { viewport: { width: 360, height: 740 } });
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight / 2));
    const place = await page.evaluate(() => scrollY);
    expect(place).toBeGreaterThan(740);
    await reload(page);
    // What is said of the kernel's answers further up may take a line or two, and moves all below it.
    const away = () => page.evaluate((place) => Math.abs(scrollY - place), place);
    await expect.poll(away).toBeLessThan(74);
  });

  test("weighs less than 300 kB before anybody touches it, engine included", async () => {
    const page = await open();
    const addresses = new Set<string>();
    page.on("response", (response) => addresses.add(response.url()));
    await page.goto(site().plain + file);
    await timed(page);
    const files = [...addresses].filter((address) => address.startsWith("http"));
    const sizes = files.map(
      async (address) => brotliCompressSync(Buffer.from(await (await fetch(address)).arrayBuffer()), FAST).length,
    );
    const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    // Not less than the engine alone: else the page was not counted.
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThan(MOST_BYTES);
  });

  test("says so where the kernels cannot run, and still explains", async () => {
    const page = await open(file, { before: () => Reflect.deleteProperty(globalThis, "WebAssembly") });
    const warning = page.locator("#warning");
    await warning.waitFor();
    expect(await warning.textContent()).toMatch(/did not start here.*HeedError: .+own arithmetic/);
    expect(await page.locator("heed-matrix td[data-row]:visible").count()).toBeGreaterThan(5);
    expect(await page.locator(".readout-result").textContent()).toMatch(/\d/);
  });

  test("is where the links of the other pages lead, in a subfolder too", async () => {
    const other = PAGES.find((page) => page.file !== file);
    const page = await open(other?.file);
    await page.getByRole("navigation", { name: "Rooms" }).getByRole("link", { name }).click();
    await page.locator(".rooms a[aria-current]", { hasText: name }).waitFor();
    await kernelAnswered(page);
    expect(page.url().startsWith(site().isolated)).toBe(true);
  });
});
