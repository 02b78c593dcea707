// Back and forward go through what was chosen, and do not leave the site before.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { PAGES, type Room } from "../../../demo/frame.js";
import { demoInChromium } from "./chromium.js";
import { cell, hashOf, kernelAnswered, reload } from "./page.js";

const { answered, open } = demoInChromium();

const entries = (page: Page): Promise<number> => page.evaluate(() => history.length);

const radio =
  (name: string) =>
  (page: Page): Promise<void> =>
    page.getByRole("radio", { name, exact: true }).check();
const button =
  (name: string) =>
  (page: Page): Promise<void> =>
    page.getByRole("button", { name, exact: true }).click();

/** What a person presses, one after the other. */
const PRESSES: Readonly<Record<Room, readonly ((page: Page) => Promise<unknown>)[]>> = {
  "matrix-walk": [
    button("“it”, two heads"),
    button("too wide, not tired"),
    button("Padding"),
    button("Just numbers"),
    button("QKᵀ"),
    (page) => page.getByRole("slider", { name: "Step" }).press("ArrowRight"),
    button("All steps"),
    button("“it”, one head"),
  ],
  dictionary: [radio("Grades and salaries"), radio("Tastes and movies")],
  "score-lab": [radio("cosine"), radio("additive")],
  scale: [radio("yes")],
  masks: [button("A row that sees nothing"), button("Sliding window")],
  heads: [radio("wide"), radio("8"), radio("tired")],
  order: [radio("rotary"), button("Shuffle the words"), button("Put the words as written"), radio("ALiBi")],
  "what-else": [radio("a dense layer"), radio("for sets"), radio("ripples")],
  learning: [radio("sort"), radio("a"), radio("copy")],
  translation: [radio("Luong"), button("december 25th, 2024"), radio("Bahdanau")],
  language: [radio("GPT: left side"), button("a gift"), radio("BERT: both sides")],
  "bring-your-own": [radio("everything"), radio("what came before")],
};

/** The room as a person sees it: what is chosen, what is typed, and the numbers. */
async function seen(page: Page): Promise<string> {
  await kernelAnswered(page);
  return page.evaluate(() => {
    const controls = Array.from(document.querySelectorAll<HTMLInputElement>("main :is(input, textarea)"))
      .filter((one) => one.checkVisibility() && one.closest(".readout") === null)
      .map(({ type, value, checked }) => (type === "radio" ? checked : value));
    const [steps, cells] = [
      ":is(.step, .board-tick)[aria-current]",
      ".flow-askers button, heed-matrix td[data-row]",
    ].map((selector) =>
      Array.from(document.querySelectorAll<HTMLElement>(selector))
        .filter((one) => one.checkVisibility())
        .map(({ textContent }) => textContent),
    );
    return JSON.stringify({ controls, steps, cells });
  });
}

describe.each(PAGES)("what was chosen on $file", ({ room, file }) => {
  test("comes back, and comes again, and is the same when its address is opened", async () => {
    const page = await open(file);
    const before = await entries(page);
    const visited = [{ hash: await hashOf(page), looks: await seen(page) }];
    for (const press of PRESSES[room]) {
      await press(page);
      visited.push({ hash: await hashOf(page), looks: await seen(page) });
    }
    expect(new Set(visited.map(({ hash }) => hash)).size).toBeGreaterThan(1);
    expect(await entries(page)).toBe(before + PRESSES[room].length);
    for (const { hash, looks } of visited.slice(0, -1).reverse()) {
      await page.goBack();
      expect(await hashOf(page)).toBe(hash);
      await expect.poll(() => seen(page)).toBe(looks);
    }
    for (const { hash, looks } of visited.slice(1)) {
      await page.goForward();
      expect(await hashOf(page)).toBe(hash);
      await expect.poll(() => seen(page)).toBe(looks);
    }
    await reload(page);
    await expect.poll(() => seen(page)).toBe(visited.at(-1)?.looks);
  });
});

describe("what is typed", () => {
  test("is one entry, however many letters it has, and comes back into its field", async () => {
    const page = await open();
    const before = await entries(page);
    const sentence = page.locator("#sentence");
    const [first, second] = ["The dog saw it", "The cat saw a bird and it flew"];
    const given = await sentence.inputValue();
    for (const text of [first, second]) {
      await sentence.click();
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
    }
    expect(await entries(page)).toBe(before + 2);
    await page.goBack();
    expect(await sentence.inputValue()).toBe(first);
    expect(await page.locator(".flow-askers button").allTextContents()).toEqual(first.split(" "));
    await page.goBack();
    expect(await sentence.inputValue()).toBe(given);
    await page.goForward();
    await page.goForward();
    expect(await sentence.inputValue()).toBe(second);
  });

  test.each([
    ["order.html", "#sentence", "Mary gave roses", "Susan thanks Mary"],
    ["score-lab.html#score=own", "#formula", "score * 3", "score * 5"],
  ])("%s %s is one entry each time, though nothing else is pressed between", async (path, selector, first, second) => {
    const page = await open(path);
    const field = page.locator(selector);
    const before = await entries(page);
    for (const text of [first, second]) {
      await field.fill("");
      await field.pressSequentially(text);
      await field.blur();
    }
    await field.focus();
    expect(await entries(page)).toBe(before + 2);
    const squeezed = async (): Promise<string> => (await field.inputValue()).replace(/ +/g, " ");
    await page.goBack();
    await expect.poll(squeezed).toBe(first);
    await page.goForward();
    await expect.poll(squeezed).toBe(second);
  });
});

test("a slider, a painted cell and a cell that is pointed at rewrite the entry that is there", async () => {
  const page = await open("masks.html");
  const before = await entries(page);
  await page.getByRole("slider", { name: "Prefix" }).press("ArrowRight");
  await page.getByRole("slider", { name: "Keys S" }).press("ArrowLeft");
  await cell(page, "A", 1, 1).click();
  expect(await hashOf(page)).toMatch(/cell=A\.1\.1$/);
  expect(await entries(page)).toBe(before);
});

test("a walk that plays is one entry", async () => {
  const page = await answered("matrix-walk.html#step=words", { reducedMotion: "no-preference" });
  const place = (): Promise<string | null> => page.locator(".board-tick[aria-current]").textContent();
  const before = await entries(page);
  await page.clock.install();
  await page.getByRole("button", { name: "Play" }).click();
  // From one place to the next in four seconds.
  for (const name of ["Q", "K", "V"]) {
    await page.clock.runFor(4000);
    expect(await place()).toBe(name);
  }
  await page.getByRole("button", { name: "Stop" }).click();
  expect(await entries(page)).toBe(before + 1);
  await page.goBack();
  await page.clock.runFor(4000);
  expect(await place()).toBe("X");
});
