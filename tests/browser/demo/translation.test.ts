// Room 10 in real Chromium: dates that are typed and written anew, lines and grids of attention weights.

import { readFileSync } from "node:fs";
import { createHeed } from "heed";
import { loadSafetensors } from "heed/layers";
import { formatShare } from "heed/viz";
import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { FAILS, RECORDED } from "../../../demo/rooms/10-translation/reading.js";
import { following, restore } from "../../../examples/train/dates.js";
import { axeFindings, demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import { HALF_OF_FOUR_DECIMALS } from "./numbers.js";
import {
  cell,
  hashOf,
  kernelAnswered,
  linesOf,
  longestParagraph,
  readMatrix,
  readTold,
  reload,
  stopsBefore,
} from "./page.js";
import { TIME_FOR_TRIES, tasksOver } from "./tasks.js";
import { weightOf } from "./weight.js";

const { answered, open } = demoInChromium();

const written = (page: Page) => page.locator(".written button");
const date = async (page: Page): Promise<string> => (await written(page).allTextContents()).join("");
const said = (page: Page) => page.locator('[data-picture="translation"] .picture-text').textContent();
const widths = (page: Page): Promise<number[]> =>
  page.locator(".lines path").evaluateAll((all) => all.map((one) => Number(one.getAttribute("stroke-width"))));

async function type(page: Page, text: string): Promise<void> {
  await page.locator("#date").click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type(text);
}

test.each([
  ["the 3rd of May 1997", "1997-05-03"],
  ["december 25th, 2024", "2024-12-25"],
  ["8th june 1975", "1975-06-08"],
  ["we met in the garden on the 14th of february 2031 before rain", "2031-02-14"],
])("%s is written as %s as it is typed, by both networks", async (text, answer) => {
  const page = await answered("translation.html#t=may+1st%2C+2000");
  await expect.poll(() => date(page)).toBe("2000-05-01");
  await type(page, text);
  await expect.poll(() => date(page)).toBe(answer);
  await page.getByRole("radio", { name: "Luong" }).check();
  await expect.poll(() => date(page)).toBe(answer);
  expect(await page.locator(".lines .letter").allTextContents()).toEqual(Array.from(text.replaceAll(" ", "")));
});

test("the date that is said to be written wrong is written wrong", async () => {
  const page = await open("translation.html");
  await page.getByRole("button", { name: FAILS }).click();
  await expect.poll(() => page.locator(".lines .letter").count()).toBe(FAILS.replaceAll(" ", "").length);
  expect(await date(page)).toMatch(/^19\d\d-06-/);
  expect(await date(page)).not.toBe("1969-06-21");
});

test.each([
  ["yesterday", /^Made up: this text has no day, no month written in full, no year, /],
  ["4th july 1776", /^Made up: this text has a year outside 1900 to 2099, /],
  ["21st june 1969", /^Wrong: “1969-06-21” was meant/],
  ["February 30th 2020", /^Made up: this text has no such day in that month, /],
  ["may 2nd, 2003", /^The thicker a line/],
])("of “%s” it is said whether there is a date in it", async (text, wanted) => {
  const page = await answered("translation.html");
  await type(page, text);
  await expect.poll(() => page.locator(".lines .letter").count()).toBe(text.replaceAll(" ", "").length);
  await page.locator("h1").hover();
  await expect.poll(() => said(page)).toMatch(wanted);
});

test("an empty field leaves no date", async () => {
  const page = await answered("translation.html");
  await page.locator("#date").fill("");
  await expect.poll(() => date(page)).toBe("··········");
  expect(await said(page)).toBe("Nothing to read yet: type a date.");
  expect(await widths(page)).toEqual([]);
});

test("weights are loaded when somebody types, and only then", async () => {
  const addresses = new Set<string>();
  const page = await open("translation.html", {
    watch: (page) => page.on("response", (response) => addresses.add(response.url())),
  });
  const loaded = () => [...addresses].filter((address) => address.endsWith(".safetensors")).length;
  await kernelAnswered(page);
  expect(await weightOf(addresses)).toBeLessThan(150_000);
  expect(loaded()).toBe(0);
  await type(page, "may 2nd, 2003");
  await expect.poll(() => date(page)).toBe("2003-05-02");
  await expect.poll(loaded).toBe(2);
});

describe("a character of the date", () => {
  test("shows its own lines and figures while it is pointed at, and all lines after that", async () => {
    const page = await answered("translation.html");
    const all = await widths(page);
    await written(page).nth(3).hover();
    const own = await widths(page);
    expect(own.length).toBeLessThan(all.length / 3);
    const row = (await readMatrix(page, "bahdanau"))[3] ?? [];
    const figures = (await page.locator(".lines .figure").allTextContents()).map(Number);
    expect(figures).toEqual(row.map((weight) => Math.round(100 * weight)).filter((figure) => figure >= 3));
    // As thick as the weight.
    expect(Math.max(...own) / Math.max(...row)).toBeCloseTo(14, 0);
    expect(await said(page)).toMatch(/^“7” looks at “7” \d+\s%/);
    await page.locator("h1").hover();
    expect(await widths(page)).toEqual(all);
  });

  test("is reached by the keyboard with one tab stop, and tells the largest weight’s softmax", async () => {
    const page = await answered("translation.html");
    await written(page).first().focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
    expect(await said(page)).toMatch(/^“7” looks at/);
    const told = await readTold(page);
    expect(told.subject).toBe("“7” looks at “7”");
    expect(told.kernel).toMatch(/^heed computes /);
    expect(told.terms).toHaveLength(RECORDED.text.length);
    await page.keyboard.press("Tab");
    expect(await page.locator(".lines button:focus").textContent()).toBe("Play");
    await page.keyboard.press("Tab");
    expect(await page.locator('.lines input[type="range"]:focus').count()).toBe(1);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("date");
  });
});

describe("what is written", () => {
  test("is scrubbed forwards and back, with the lines of the character that was written last", async () => {
    const page = await open("translation.html");
    const scrubber = page.locator(".lines").getByRole("slider", { name: "Step" });
    await scrubber.press("Home");
    expect(await date(page)).toBe("··········");
    expect(await widths(page)).toEqual([]);
    for (let i = 0; i < 4; i++) await scrubber.press("ArrowRight");
    expect(await scrubber.getAttribute("aria-valuetext")).toBe("4 of 10 written");
    expect(await date(page)).toBe("1997······");
    expect(await said(page)).toMatch(/^“7” looks at/);
    await scrubber.press("ArrowLeft");
    expect(await date(page)).toBe("199·······");
    expect(await hashOf(page)).toContain("written=3");
    await reload(page);
    expect(await date(page)).toBe("199·······");
  });

  test("plays, but goes one step a press where nothing shall move", async () => {
    const page = await open("translation.html", { reducedMotion: "no-preference" });
    const play = page.locator(".lines").getByRole("button", { name: "Play" });
    await play.click();
    const seen = new Set<string>();
    await expect
      .poll(async () => {
        seen.add(await date(page));
        return play.isVisible();
      })
      .toBe(true);
    expect(seen.size).toBeGreaterThan(4);
    expect(await date(page)).toBe("1997-05-03");
    const calm = await open("translation.html#written=3");
    await calm.locator(".lines").getByRole("button", { name: "Play" }).click();
    expect(await date(calm)).toBe("1997······");
  });
});

test("both grids are softmaxes", async () => {
  const page = await answered("translation.html");
  for (const network of ["bahdanau", "luong"] as const) {
    await cell(page, network, 6, RECORDED.text.indexOf("y")).click();
    expect((await readTold(page)).subject).toBe("“5” looks at “y”");
    for (const row of await readMatrix(page, network)) {
      // Each is rounded to two decimals.
      expect(Math.abs(row.reduce((sum, weight) => sum + weight, 0) - 1)).toBeLessThanOrEqual(0.005 * row.length);
    }
  }
});

const status = (page: Page, picture: string) => page.locator(`[data-picture="${picture}"] p[role=status]`);
const lossChart = (page: Page) => page.locator('[data-picture="training"] heed-chart').first();

const losses = async (page: Page): Promise<string[]> => (await linesOf(lossChart(page))).allTextContents();

test.each(["bahdanau", "luong"] as const)("%s’s network runs as it was copied", async (network) => {
  const text = "8th june 1975";
  const path = `translation.html#t=${encodeURIComponent(text)}&network=${network}`;
  const page = await answered(path, { permissions: ["clipboard-read", "clipboard-write"] });
  await expect.poll(() => date(page)).toBe("1975-06-08");
  const weights = await runUnderNode(await copied(page, "heed"));
  await expect.poll(async () => (await readMatrix(page, network))[0]?.length).toBe(text.length);
  const shown = (await readMatrix(page, network)).flat();
  expect(weights).toHaveLength(shown.length);
  // Shown with two decimals.
  for (const [at, weight] of weights.entries())
    expect(Math.abs(weight - (shown[at] ?? Number.NaN))).toBeLessThan(0.0051);
  expect(await copied(page, "torch")).toContain(`dates-${network}.safetensors`);
});

test(
  "trained until it is stopped without isolation, and from that address to the end with it: the same numbers, 95 % are right with attention, one state gets short dates right and forgets them in longer texts, and the page never computes for 50 ms",
  async () => {
    const watched = async (
      path: string,
      kind: "isolated" | "plain",
      act: (page: Page) => Promise<void>,
    ): Promise<Page> => {
      const page = await open(path, {}, kind);
      const { all, over } = await tasksOver(50, { page, act: () => act(page) });
      expect(all).toBeGreaterThan(200);
      expect(over).toEqual([]);
      return page;
    };
    const says = (page: Page, hasText: string | RegExp): Promise<void> =>
      status(page, "training").filter({ hasText }).waitFor({ timeout: 300_000 });

    const stopped = await watched("translation.html", "plain", async (page) => {
      await page.getByRole("button", { name: "Train", exact: true }).click();
      await says(page, /Step [1-9]/);
      await page.getByRole("button", { name: "Stop" }).click();
      await says(page, "Stopped.");
    });
    const [begun, own] = [await losses(stopped), await readMatrix(stopped, "own")];
    expect(begun.length).toBeGreaterThan(1);
    const hash = await hashOf(stopped);
    expect(hash).toMatch(/step=\d/);
    const scrubber = stopped.locator('[data-picture="training"]').getByRole("slider", { name: "Step", exact: true });
    await scrubber.press("Home");
    expect(await hashOf(stopped)).not.toContain("step=");
    expect(await readMatrix(stopped, "own")).not.toEqual(own);
    await scrubber.press("End");
    expect(await readMatrix(stopped, "own")).toEqual(own);

    const page = await watched(`translation.html${hash}`, "isolated", (page) => says(page, "steps in"));
    expect(await readMatrix(page, "own")).toEqual(own);
    expect((await losses(page)).slice(0, begun.length)).toEqual(begun);
    const found = await page.locator('[data-picture="training"] .picture-text').textContent();
    const shares = Array.from(found?.matchAll(/(\d+)\s%/g) ?? [], ([, share]) => Number(share));
    const [alone = 0, lone = 0, far = 0, forgotten = 100] = shares;
    expect(alone).toBeGreaterThanOrEqual(95);
    expect(lone).toBeGreaterThanOrEqual(60);
    expect(far).toBeGreaterThanOrEqual(70);
    expect(forgotten).toBeLessThan(lone / 2);
    const byLength = await linesOf(page.locator('[data-picture="training"] heed-chart').last());
    const shown = await byLength.locator("td:last-child").allTextContents();
    expect(Number(shown.at(-1))).toBeLessThan(Number(shown[0]) / 3);
    await page.locator('[data-picture="training"]').getByRole("slider", { name: "Step", exact: true }).press("End");
    expect(await page.locator(".answers output").first().textContent()).toBe("1997-05-03");
    expect(await axeFindings(page)).toEqual([]);
  },
  2 * TIME_FOR_TRIES,
);

describe("a beam", () => {
  const nodes = (page: Page) =>
    page.locator(".beam-node:not(:first-of-type)").evaluateAll((all) =>
      all.map((node) => ({
        date: node.querySelector("input")?.value ?? "",
        share: node.querySelector("small")?.textContent ?? "",
        isKept: !node.classList.contains("dropped"),
      })),
    );
  const saidOfBeam = (page: Page) => page.locator('[data-picture="beam"] .picture-text').textContent();

  /** By sums of logarithms over all dates that can be reached: what stays at each step, and its last probability. */
  async function beamOf(text: string, width: number): Promise<Map<string, { log: number; last: number }>[]> {
    const file = readFileSync(new URL("../../../demo/public/weights/dates-bahdanau.safetensors", import.meta.url));
    const heed = await createHeed({ backend: "wasm" });
    const trained = restore(await loadSafetensors(file), { engine: heed });
    let kept = new Map([["", { log: 0, last: 1 }]]);
    const steps = [];
    while (steps.length < 10) {
      const grown: [string, { log: number; last: number }][] = [];
      for (const [date, { log }] of kept) {
        const [found = []] = await following(trained, text, [date]);
        for (const { character, probability: last } of found) {
          grown.push([date + character, { log: log + Math.log(last), last }]);
        }
      }
      kept = new Map(grown.sort(([, a], [, b]) => b.log - a.log).slice(0, width));
      steps.push(kept);
    }
    heed.dispose();
    return steps;
  }

  test("keeps the likeliest beginnings, and finds the date that greedy drops", async () => {
    const page = await answered("translation.html");
    const text = "the 21st march 2010";
    await page.locator('[data-picture="beam"]').getByRole("button", { name: text }).click();
    await page.getByRole("group", { name: "Branches that stay" }).getByRole("radio", { name: "3" }).check();
    const steps = await beamOf(text, 3);
    const wanted = steps.flatMap((kept) =>
      [...kept].map(([date, { last }]) => ({ date, share: `${Math.round(100 * last)}`, isKept: true })),
    );
    await expect.poll(async () => (await nodes(page)).filter(({ isKept }) => isKept)).toEqual(wanted);
    expect((await nodes(page)).length).toBe(5 * 10);
    const [greedy] = (await beamOf(text, 1)).at(-1) ?? [];
    const [best] = steps.at(-1) ?? [];
    expect([greedy?.[0], best?.[0]]).toEqual(["2010-03-01", "2010-03-21"]);
    for (const one of [greedy, best])
      expect(await saidOfBeam(page)).toContain(formatShare(Math.exp(one?.[1].log ?? 0)));
    await page.getByRole("radio", { name: "1: greedy" }).check();
    await expect.poll(() => saidOfBeam(page)).toContain("2010-03-01");
  });

  test("tells of a node the probabilities of its characters, which multiply to its own", async () => {
    const page = await answered("translation.html#beam=3&t=the+21st+march+2010");
    const ends = (await beamOf("the 21st march 2010", 3)).at(-1) ?? new Map();
    expect(ends.size).toBe(3);
    for (const [date, { log, last }] of ends) {
      await page.locator(`.beam input[value="${date}"]`).hover();
      await expect.poll(async () => (await readTold(page)).subject).toBe(`“${date}”`);
      const { terms, result } = await readTold(page);
      expect(terms).toHaveLength(10);
      expect(Math.abs((terms.at(-1)?.[0] ?? Number.NaN) - last)).toBeLessThanOrEqual(HALF_OF_FOUR_DECIMALS);
      // Each factor is one at most, and rounded to four decimals.
      const product = terms.reduce((all, [probability = Number.NaN]) => all * probability, 1);
      expect(Math.abs(product - result)).toBeLessThanOrEqual((terms.length + 1) * HALF_OF_FOUR_DECIMALS);
      expect(Math.abs(Math.exp(log) - result)).toBeLessThanOrEqual(HALF_OF_FOUR_DECIMALS);
    }
  });

  test("goes on from a node that is chosen, and says what that cost", async () => {
    const page = await open("translation.html");
    await page.getByRole("radio", { name: "1: greedy" }).check();
    await expect.poll(async () => (await nodes(page)).length).toBe(5 * 10);
    const other = (await nodes(page)).find(({ date, isKept }) => date.length === 7 && !isKept)?.date ?? "";
    await page.locator(".beam").getByRole("radio", { name: other, exact: true }).check();
    await expect.poll(() => saidOfBeam(page)).toContain(`From “${other}” the decoder goes on`);
    const [[free, { log }] = ["", { log: Number.NaN }]] = (await beamOf(RECORDED.text.toLowerCase(), 1)).at(-1) ?? [];
    expect(await saidOfBeam(page)).toContain(`by itself it ends at “${free}”, ${formatShare(Math.exp(log))}`);
    expect(
      (await nodes(page))
        .filter(({ isKept }) => isKept)
        .at(-1)
        ?.date.startsWith(other),
    ).toBe(true);
    expect(await hashOf(page)).toContain(`begun=${other}`);
  });
});

test("where this stands: links lead to rooms of this site", async () => {
  const page = await open("translation.html");
  const links = page.locator('[data-picture="kinds"] a');
  expect(await links.count()).toBe(3);
  await links.last().click();
  await page.waitForURL(/language\.html#mask=causal/);
});

describe.each([
  [1280, 800, 200],
  [390, 844, 260],
])("at %d x %d", (width, height, most) => {
  test("the picture is in sight, and its end not many tab stops away", async () => {
    const page = await open("translation.html", { viewport: { width, height } });
    expect((await page.locator(".lines").boundingBox())?.y).toBeLessThan(most);
    expect(await stopsBefore(page, '[data-picture="scores"]')).toBeLessThanOrEqual(30);
    expect(await longestParagraph(page)).toBeLessThanOrEqual(45);
  });
});
