// What must hold on the page of every room.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { PAGES } from "../../../demo/frame.js";
import { axeFindings, demoInChromium } from "./chromium.js";
import { kernelAnswered } from "./page.js";
import { jumpsOf, scrollThrough, watchJumps } from "./still.js";
import { weightOf } from "./weight.js";

const MOST_BYTES = 300_000;

/** A phone that comes in the light and turns dark, and a desk where it is the other way round: four looks of two visits. */
const VISITS = [
  { on: "a phone", width: 360, schemes: ["light", "dark"], size: { width: 390, height: 844 }, most: 260 },
  { on: "a desk", width: 1280, schemes: ["dark", "light"], size: { width: 1280, height: 800 }, most: 200 },
] as const;

const { open, shared, site } = demoInChromium();

test("the licences of what the site holds of others are one step away", async () => {
  const page = await open("index.html");
  const address = await page.getByRole("link", { name: "their licences" }).getAttribute("href");
  const found = await (await fetch(new URL(address ?? "", site().isolated))).text();
  const packed = fileURLToPath(new URL("../../../dist/THIRD-PARTY-NOTICES.txt", import.meta.url));
  expect(found).toContain(readFileSync(packed, "utf8"));
  expect(found).toMatch(/\nVite\n.*Copyright .* Vite contributors\n/s);
});

const rooms = PAGES.map(({ file, name }, index) => ({
  name,
  file,
  next: PAGES[(index + 1) % PAGES.length]?.name ?? "",
}));

describe.each(rooms)("the page $name", ({ file, next }) => {
  describe.each(VISITS)("on $on", ({ width, schemes: [first, second], size, most }) => {
    const addresses = new Set<string>();
    const visit = shared(file, {
      viewport: { width, height: 740 },
      untouched: true,
      hasTouch: width === 360,
      reducedMotion: "no-preference",
      colorScheme: first,
      before: watchJumps,
      watch: (page) => page.on("response", (response) => addresses.add(response.url())),
    });

    test("weighs less than 300 kB before anybody touches it, engine included", async () => {
      await kernelAnswered(visit());
      const total = await weightOf(addresses);
      // Not less than the engine alone: else the page was not counted.
      expect(total).toBeGreaterThan(50_000);
      expect(total).toBeLessThan(MOST_BYTES);
    });

    test("does not jump while it comes up, nor when one scrolls", async () => {
      const page = visit();
      await kernelAnswered(page);
      await scrollThrough(page);
      const { sum, before, after } = await jumpsOf(page);
      expect(sum).toBeLessThan(0.02);
      expect(before.length).toBeGreaterThan(2);
      expect(after).toEqual(before);
    });

    test("is not too wide, and has nothing that axe objects to", async () => {
      const page = visit();
      await page.emulateMedia({ reducedMotion: "reduce" });
      expect(await page.locator("#theme").getAttribute("data-now")).toBe(first);
      // On a phone the readout is a bar over whatever scrolls below it, which axe takes for targets too small. It is examined on its own below.
      await page.evaluate(() =>
        document.querySelector<HTMLElement>(".readout")?.style.setProperty("position", "static"),
      );
      expect(await axeFindings(page)).toEqual([]);
      await page.evaluate(() => document.querySelector<HTMLElement>(".readout")?.style.removeProperty("position"));
      const wider = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(wider).toBeLessThanOrEqual(0);
    });

    test("has no colours that axe objects to in the other theme", async () => {
      const page = visit();
      await page.emulateMedia({ reducedMotion: "reduce", colorScheme: second });
      await expect.poll(() => page.locator("#theme").getAttribute("data-now")).toBe(second);
      expect(await axeFindings(page, { colours: true })).toEqual([]);
    });

    if (width === 360) {
      test("keeps the arithmetic to one line, which opens and closes", async () => {
        const page = visit();
        const [readout, toggle] = [
          page.locator(".readout"),
          page.getByRole("button", { name: "All of the arithmetic" }),
        ];
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
        expect(await axeFindings(page, { within: ".readout" })).toEqual([]);
        await toggle.tap();
        expect(await height()).toBeLessThan(60);
      });

      test("comes back to the same place when it is loaded again", async () => {
        const page = visit();
        await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight / 2));
        const place = await page.evaluate(() => scrollY);
        expect(place).toBeGreaterThan(740);
        await page.reload();
        await page.locator(".agreement").waitFor();
        // What is said of the kernel's answers further up may take a line or two, and moves all below it.
        const away = () => page.evaluate((place) => Math.abs(scrollY - place), place);
        await expect.poll(away).toBeLessThan(74);
      });
    }

    test("begins with its picture, past in 30 stops", async () => {
      const page = visit();
      await page.setViewportSize(size);
      await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
      await kernelAnswered(page);
      const main = page.locator(".picture-body:visible").first();
      expect((await main.boundingBox())?.y).toBeLessThan(most);
      const isPast = (): Promise<boolean> =>
        main.evaluate((picture) => {
          const { activeElement: here } = document;
          const where = here === null ? 0 : picture.compareDocumentPosition(here);
          return where === Node.DOCUMENT_POSITION_FOLLOWING;
        });
      let stops = 0;
      do {
        await page.keyboard.press("Tab");
        stops += 1;
      } while (stops < 60 && !(await isPast()));
      // The last is no longer the picture's.
      expect(stops - 1).toBeLessThanOrEqual(30);
      expect(stops).toBeGreaterThan(PAGES.length);
    });

    if (width !== 360) {
      test("leads to the next one, in a subfolder too", async () => {
        const page = visit();
        await page.getByRole("navigation", { name: "Rooms" }).getByRole("link", { name: next }).click();
        await page.locator(".rooms a[aria-current]", { hasText: next }).waitFor();
        await kernelAnswered(page);
        expect(page.url().startsWith(site().isolated)).toBe(true);
      });
    }
  });

  test("says so where the kernels cannot run, and still explains", async () => {
    const page = await open(file, { before: () => Reflect.deleteProperty(globalThis, "WebAssembly") });
    const warning = page.locator("#warning");
    await warning.waitFor();
    expect(await warning.textContent()).toMatch(/did not start here.*HeedError: .+own arithmetic/);
    expect(await page.locator("heed-matrix td[data-row]:visible").count()).toBeGreaterThan(5);
    expect(await page.locator(".readout-result").textContent()).toMatch(/\d/);
  });
});
