// The thread as a person reads it: ten stops beside a stage, each with one control, forwards and back.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { axeFindings, demoInChromium } from "./chromium.js";
import { hashOf } from "./page.js";
import { jumpsOf, watchJumps } from "./still.js";
import { weightOf } from "./weight.js";

const { open } = demoInChromium();

const THREAD = "five-minutes.html";
const LOOKS = [
  { on: "a desk", viewport: { width: 1280, height: 800 }, highest: 200 },
  { on: "a phone", viewport: { width: 390, height: 844 }, highest: 260 },
] as const;
const STOPS = [
  "A dictionary",
  "A soft dictionary",
  "Three roles",
  "Scores",
  "Divide by √d",
  "Softmax",
  "Mix the values",
  "Masks",
  "Heads",
  "Layers",
];

const head = (page: Page) => page.locator(".thread-head p");
const said = (page: Page) => page.locator(".thread-said");
const press = (page: Page, name: "Back" | "Next") => page.getByRole("button", { name, exact: true }).click();

/** Scrolls by the stage's own buttons. */
async function goTo(page: Page, stop: string): Promise<void> {
  const [to, from] = [STOPS.indexOf(stop), Number(/^\d+/.exec(await head(page).innerText())?.[0]) - 1];
  for (let at = from; at !== to; at += Math.sign(to - from)) {
    await press(page, to > from ? "Next" : "Back");
    const next = STOPS[at + Math.sign(to - from)] ?? "";
    await expect.poll(() => head(page).innerText()).toContain(next);
  }
}

/** A word's figure in a column, as displayed. */
async function figure(page: Page, word: string, column = 0): Promise<string> {
  const row = page.locator(".thread-board tbody tr", { has: page.locator("th", { hasText: new RegExp(`^${word}$`) }) });
  return (await row.locator("td").nth(column).innerText()).replace(/\s/g, "");
}

describe.each(LOOKS)("on $on", ({ viewport, highest }) => {
  test("the stage is high up, and stays in view at every stop, forwards and back", async () => {
    const page = await open(THREAD, { viewport, reducedMotion: "reduce" });
    const stage = page.locator("#stage");
    expect((await stage.boundingBox())?.y).toBeLessThan(highest);
    const seen: string[] = [];
    for (const stop of STOPS) {
      await goTo(page, stop);
      const box = await stage.boundingBox();
      expect(box?.y).toBeGreaterThanOrEqual(0);
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(viewport.height);
      expect(await page.locator(`section.here h2`).innerText()).toBe(stop);
      seen.push(await said(page).innerText());
    }
    expect(new Set(seen).size).toBe(STOPS.length);
    for (const stop of [...STOPS].reverse()) {
      await goTo(page, stop);
      expect(await said(page).innerText()).toBe(seen[STOPS.indexOf(stop)]);
    }
  });

  test("nothing jumps as it comes up, is too wide or is objected to by axe, in either theme", async () => {
    const addresses = new Set<string>();
    const page = await open(THREAD, {
      viewport,
      reducedMotion: "reduce",
      before: watchJumps,
      watch: (page) => page.on("response", (response) => addresses.add(response.url())),
    });
    expect((await jumpsOf(page)).sum).toBeLessThan(0.02);
    for (const stop of ["A dictionary", "Scores", "Mix the values", "Layers"]) {
      await goTo(page, stop);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await axeFindings(page)).toEqual([]);
      }
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width);
    }
    expect(await weightOf(addresses)).toBeLessThan(300_000);
  });
});

test("every stop has one control, one question, a lab that exists, and no long paragraph", async () => {
  const page = await open(THREAD);
  for (const section of await page.locator("[data-stop]").all()) {
    expect(await section.locator("fieldset, .slider").count()).toBe(1);
    expect(await section.locator(".thread-question").innerText()).toMatch(/\?$/);
    for (const paragraph of await section.locator("p").allInnerTexts()) {
      expect(paragraph.split(/\s+/).length).toBeLessThanOrEqual(45);
    }
    for (const link of await section.locator("a").all()) {
      const address = new URL((await link.getAttribute("href")) ?? "", page.url());
      expect((await fetch(address)).status).toBe(200);
    }
  }
});

test("the weights are those of the arithmetic", async () => {
  const page = await open(THREAD, { reducedMotion: "reduce" });
  // Scores of both nouns are 6 / sqrt(4), those of the nine other words 0.
  await goTo(page, "Softmax");
  const noun = Math.exp(3) / (2 * Math.exp(3) + 9);
  expect(await figure(page, "animal", 1)).toBe(`${Math.round(100 * noun)}%`);
  const slider = page.locator("section.here input");
  await slider.fill("2");
  const raised = Math.exp(5) / (Math.exp(5) + Math.exp(3) + 9);
  await expect.poll(() => figure(page, "animal", 1)).toBe(`${Math.round(100 * raised)}%`);
  await goTo(page, "Masks");
  await page.getByRole("radio", { name: "itself and the words before" }).check({ force: true });
  const masked = Math.exp(3) / (2 * Math.exp(3) + 6);
  await expect.poll(() => figure(page, "road")).toBe(`${Math.round(100 * masked)}%`);
  expect(await figure(page, "tired")).toBe("");
});

test("two layers let go of the animal when the road is too wide, and the address keeps the word", async () => {
  const page = await open(THREAD, { reducedMotion: "reduce" });
  await goTo(page, "Layers");
  const noun = async (word: string): Promise<number> => Number.parseInt(await figure(page, word, 1), 10);
  expect(await noun("animal")).toBeGreaterThan(3 * (await noun("road")));
  await page.getByRole("radio", { name: "wide" }).check({ force: true });
  await expect.poll(() => said(page).innerText()).toMatch(/^Layer 1 adds extent .*: road, 7\d\s%/);
  expect(await noun("road")).toBeGreaterThan(3 * (await noun("animal")));
  expect(await hashOf(page)).toBe("#too=wide");
  await page.goBack();
  await expect.poll(() => said(page).innerText()).toMatch(/^Layer 1 adds body .*: animal/);
});
