// The thread as a person reads it: ten stops beside a stage, each with one control, forwards and back.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { axeFindings, demoInChromium } from "./chromium.js";
import { hashOf, stopsBefore } from "./page.js";
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

/** A word's figure in the picture, in the first of its columns or another. */
const named = async (page: Page, word: string, column = 0): Promise<number> =>
  Number.parseInt(await page.locator(`.thread-picture [data-word="${word}"]`).nth(column).innerHTML(), 10);

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
    expect(await section.locator(".thread-control > :is(fieldset, .slider)").count()).toBe(1);
    expect(await section.locator(".thread-control > .guess").count()).toBe(1);
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
  await expect.poll(() => named(page, "animal")).toBe(Math.round(100 * noun));
  const slider = page.locator("section.here input");
  await slider.fill("2");
  const raised = Math.exp(5) / (Math.exp(5) + Math.exp(3) + 9);
  await expect.poll(() => named(page, "animal")).toBe(Math.round(100 * raised));
  await goTo(page, "Masks");
  await page.getByRole("radio", { name: "itself and the words before" }).check({ force: true });
  // The animal’s own score is 4 / sqrt(4), and that of the one word before it 0.
  const masked = Math.exp(2) / (Math.exp(2) + 1);
  await expect.poll(() => named(page, "animal")).toBe(Math.round(100 * masked));
  expect(await page.locator(".thread-hidden").count()).toBe((11 * 10) / 2);
  // What is poured is weight times value: of a noun its own property, and of "tired" life.
  await goTo(page, "Mix the values");
  const one = 1 / (2 * Math.exp(3) + 9);
  const poured = await page.locator(".thread-picture svg[role=img]").getAttribute("aria-label");
  expect(poured).toBe(`life ${(noun + one).toFixed(2)}, size ${noun.toFixed(2)}`);
});

describe("an address", () => {
  test.each([
    ["mask", "Masks"],
    ["layers", "Layers"],
  ])("names the stop %s, and opens there", async (stop, name) => {
    const page = await open(`${THREAD}#stop=${stop}`, { reducedMotion: "reduce" });
    await expect.poll(() => head(page).innerText()).toContain(name);
    await press(page, "Back");
    await expect.poll(() => hashOf(page)).not.toContain(`stop=${stop}`);
    await press(page, "Next");
    await expect.poll(() => hashOf(page)).toContain(`stop=${stop}`);
    await page.reload();
    await page.locator(".thread-said").waitFor();
    await expect.poll(() => head(page).innerText()).toContain(name);
  });

  test("that is typed leads to its stop", async () => {
    const page = await open(THREAD, { reducedMotion: "reduce" });
    await page.evaluate(() => {
      location.hash = "stop=softmax&raise=2";
    });
    await expect.poll(() => head(page).innerText()).toContain("Softmax");
    await expect
      .poll(() => named(page, "animal"))
      .toBe(Math.round((100 * Math.exp(5)) / (Math.exp(5) + Math.exp(3) + 9)));
  });
});

test("a lab opens with what was set at the stop, and says the question that it answers", async () => {
  const page = await open(`${THREAD}#stop=scale`, { reducedMotion: "reduce" });
  await page.locator("section.here input").fill("0");
  const lab = page.locator("section.here .lab");
  await expect.poll(() => lab.getAttribute("href")).toMatch(/scale\.html#d=4$/);
  expect(await page.locator("section.here p:has(.lab)").innerText()).toMatch(/Why divide by √d\?$/);
  await goTo(page, "Masks");
  await page.getByRole("radio", { name: "all words" }).check({ force: true });
  await expect.poll(() => lab.getAttribute("href")).toMatch(/masks\.html#causal=none$/);
  await goTo(page, "Mix the values");
  await page.locator("section.here").getByRole("radio", { name: "road" }).check({ force: true });
  await lab.click();
  await page.locator(".agreement").waitFor();
  expect(await page.locator("#sentence").inputValue()).toBe(
    "The animal didn't cross the road because it was too tired",
  );
  expect(Object.fromEntries(new URLSearchParams((await hashOf(page)).slice(1)))).toMatchObject({
    step: "output",
    word: "5",
  });
});

test("each guess brings its answer into the picture, and the first counts", async () => {
  const page = await open(THREAD, { reducedMotion: "reduce", alone: true });
  const score = page.locator("#score");
  expect(await score.isVisible()).toBe(false);
  for (const [index, stop] of STOPS.entries()) {
    await goTo(page, stop);
    const here = page.locator("section.here .guess");
    const before = await page.evaluate(() => location.hash);
    const buttons = here.locator("button");
    const isDrawn = (await buttons.count()) === 1;
    if (isDrawn) {
      await page.locator(".thread-pad").focus();
      await page.keyboard.press("ArrowUp");
    }
    await buttons.first().click();
    await expect.poll(() => here.locator(".guess-said").innerText()).toMatch(/^(?:Yes|No)/);
    expect(await here.locator("button.right").count()).toBe(isDrawn ? 0 : 1);
    // That of the mixture is on the stage already.
    if (stop !== "Mix the values") expect(await page.evaluate(() => location.hash)).not.toBe(before);
    expect(await score.innerText()).toMatch(new RegExp(` of ${index + 1}\\.$`));
  }
  const said = await score.innerText();
  await page.locator("section.here .guess button.right").click();
  expect(await score.innerText()).toBe(said);
  await page.goto(new URL("index.html", page.url()).href);
  await expect.poll(() => score.innerText()).toBe(said);
});

describe("what is drawn", () => {
  const pad = (page: Page) => page.locator(".thread-pad");
  const said = (page: Page) => page.locator("section.here .guess-said").innerText();
  const show = (page: Page) => page.locator("section.here").getByRole("button", { name: "Show it" }).click();
  /** Places as parts of the pad. */
  const stroke = async (page: Page, ...places: readonly (readonly [number, number])[]): Promise<void> => {
    const { x = 0, y = 0, width = 0, height = 0 } = (await pad(page).boundingBox()) ?? {};
    for (const [index, [right, up]] of places.entries()) {
      await page.mouse.move(x + right * width, y + (1 - up) * height);
      if (index === 0) await page.mouse.down();
    }
    await page.mouse.up();
  };

  test("over the mask is compared with the row that grows over it", async () => {
    const page = await open(`${THREAD}#stop=mask`, { reducedMotion: "reduce", alone: true });
    // Half a word, and half the animal itself: in common are 0.12 and a half.
    await stroke(page, [0.5 / 11, 0.5], [1.5 / 11, 0.5]);
    await show(page);
    const own = Math.exp(2) / (Math.exp(2) + 1);
    await expect
      .poll(() => said(page))
      .toContain(`Yes: your sketch is right for ${Math.round(100 * (1.5 - own))}\u00a0%`);
    expect(await pad(page).count()).toBe(0);
    expect(await page.locator(".thread-sketch").count()).toBe(1);
    expect(await hashOf(page)).toBe("#stop=mask&sees=before");
    expect(await axeFindings(page)).toEqual([]);
  });

  test("over the scores is wrong where it is as wide as they are, and may be left out", async () => {
    const page = await open(`${THREAD}#stop=scale`, { reducedMotion: "reduce", alone: true });
    await show(page);
    expect(await said(page)).toMatch(/^Their spread is 1/);
    expect(await page.locator("#score").isVisible()).toBe(false);
    await page.goBack();
    await stroke(page, [0.1, 0.1], [0.9, 0.1]);
    expect(await axeFindings(page, { within: "#stage" })).toEqual([]);
    await show(page);
    await expect.poll(() => said(page)).toMatch(/^No: your sketch is right for \d\s%/);
  });

  test("by the keyboard is said bar by bar", async () => {
    const page = await open(`${THREAD}#stop=mask`, { reducedMotion: "reduce" });
    await pad(page).focus();
    for (const key of [...Array<string>(4).fill("ArrowLeft"), "ArrowUp", "ArrowUp"]) await page.keyboard.press(key);
    expect(await pad(page).getAttribute("aria-valuetext")).toMatch(/^animal: 10\s%$/);
  });
});

test("by keyboard alone one guesses, draws, sets and goes on", async () => {
  const page = await open(THREAD, { reducedMotion: "reduce", alone: true });
  const tabTo = async (selector: string): Promise<void> => {
    expect(await stopsBefore(page, selector)).toBeLessThan(60);
  };
  await tabTo(".thread-head button:last-of-type");
  for (const stop of STOPS.slice(1, 5)) {
    await page.keyboard.press("Enter");
    await expect.poll(() => head(page).innerText()).toContain(stop);
  }
  await tabTo(".thread-pad");
  await page.keyboard.press("ArrowUp");
  await tabTo("section.here .guess button");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("section.here .guess-said").innerText()).toMatch(/^Yes: /);
  await tabTo("section.here .slider");
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => hashOf(page)).toContain("d=64");
  await tabTo('[data-stop="softmax"] .guess');
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator('[data-stop="softmax"] .guess-said').innerText()).toMatch(/^Yes\. /);
});

test("a stop begins with the word that its text is about", async () => {
  const page = await open(THREAD, { reducedMotion: "reduce" });
  await goTo(page, "Three roles");
  await page.locator("section.here").getByRole("radio", { name: "road" }).check({ force: true });
  await expect.poll(() => said(page).innerText()).toMatch(/^“road” looks for/);
  await goTo(page, "Mix the values");
  expect(await said(page).innerText()).toMatch(/^The output of it/);
  await goTo(page, "Layers");
  await page.getByRole("radio", { name: "wide" }).check({ force: true });
  await goTo(page, "Heads");
  expect(await said(page).innerText()).toContain("tired");
});

test("two layers let go of the animal when the road is too wide, and the address keeps the word", async () => {
  const page = await open(THREAD, { reducedMotion: "reduce" });
  await goTo(page, "Layers");
  const noun = (word: string): Promise<number> => named(page, word, 1);
  expect(await noun("animal")).toBeGreaterThan(3 * (await noun("road")));
  await page.getByRole("radio", { name: "wide" }).check({ force: true });
  await expect.poll(() => said(page).innerText()).toMatch(/^Layer 1 adds size .*: road, 7\d\s%/);
  expect(await noun("road")).toBeGreaterThan(3 * (await noun("animal")));
  expect(await hashOf(page)).toBe("#stop=layers&too=wide");
  await page.goBack();
  await expect.poll(() => said(page).innerText()).toMatch(/^Layer 1 adds life .*: animal/);
});
