// The sentence at the top of the matrix walk: which word is in the light, which words are not known, and from which side it runs.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { demoInChromium } from "./chromium.js";
import { chooseBy, kernelAnswered } from "./page.js";

const { open } = demoInChromium();

const caption = (page: Page) => (): Promise<string | null> => page.locator(".stage-caption").textContent();

/** With another word than “it” in the light. */
async function onAnotherWord(): Promise<Page> {
  const page = await open();
  await expect.poll(caption(page)).toMatch(/^it → /);
  await page.locator(".flow-askers button", { hasText: /^cross$/ }).click();
  await page.mouse.move(0, 0);
  await expect.poll(caption(page)).toMatch(/^cross → /);
  return page;
}

describe("the word in the light", () => {
  test.each([
    ["“it”, one head", "it → animal 43"],
    ["“it”, two heads", "it → animal 85"],
    ["too wide, not tired", "it → "],
    ["The big, fluffy dog", "dog → fluffy 39"],
    ["“he”: dog or owner?", "he → dog 38"],
    ["Causal: no looking ahead", "it → "],
    ["Causal: only the last word asks", "it → "],
    ["Padding", "Susan → "],
    ["No parameters: softmax(XXᵀ) X", "it → it "],
    ["Just numbers", "x1 → "],
  ])("of the example %s begins: %s", async (name, begins) => {
    const page = await onAnotherWord();
    await page.getByRole("button", { name, exact: true }).click();
    await expect.poll(caption(page)).toMatch(new RegExp(`^${begins}`));
    expect(await page.locator(".flow-askers [aria-pressed=true]").count()).toBe(1);
  });

  test.each([
    ["The hungry cat chased the mouse until it escaped", "it → cat 43"],
    ["Mary gave roses to a friend", "Mary → "],
  ])("of the typed sentence “%s” begins: %s", async (sentence, begins) => {
    const page = await onAnotherWord();
    await page.locator("#sentence").fill(sentence);
    await expect.poll(caption(page)).toMatch(new RegExp(`^${begins}`));
  });
});

describe("words that the table lacks", () => {
  const SENTENCE = "I sat by the river bank and counted the money";
  const UNKNOWN = ["bank", "counted", "money"];

  const dotted = (page: Page, selector: string): Promise<string[]> =>
    page
      .locator(selector)
      .evaluateAll((words) =>
        words
          .filter((word) => word.checkVisibility() && getComputedStyle(word).textDecorationStyle === "dotted")
          .map((word) => word.textContent ?? ""),
      );

  test("are dotted where they stand, and the page says what that means", async () => {
    const page = await open();
    const note = page.locator(".stage-note");
    expect(await note.isVisible()).toBe(false);
    await page.locator("#sentence").fill(SENTENCE);
    expect(await dotted(page, ".flow-askers button")).toEqual(UNKNOWN);
    expect(await dotted(page, 'heed-matrix[data-name="X"] th[scope=row] span')).toEqual(UNKNOWN);
    expect(await note.textContent()).toMatch(/^Dotted words are not among the \d+ that this page knows/);
    expect(await page.locator('[data-picture="walk"] .picture-text').textContent()).toContain(
      "Dotted words are not among",
    );
    await page.locator(".flow-askers button", { hasText: /^money$/ }).click();
    await kernelAnswered(page);
    const [first] = (await caption(page)()) ?? "";
    expect(first).toBe("m");
    expect(await dotted(page, ".stage-caption b")).toContain("money");
    await chooseBy(page, "column");
    expect(await dotted(page, 'heed-matrix[data-name="X"] th[scope=col] span')).toEqual(UNKNOWN);
    await page.getByRole("button", { name: "“it”, one head" }).click();
    expect(await dotted(page, ".flow-word, .stage-caption b, heed-matrix th span")).toEqual([]);
    expect(await note.isVisible()).toBe(false);
  });

  test("are only words: numbers that were typed have no table to be in", async () => {
    const page = await open("matrix-walk.html#t=bank&x=3_1_2_3_4_5_6");
    expect(await page.locator(".flow-askers button").allTextContents()).toEqual(["x1", "x2"]);
    expect(await dotted(page, ".flow-askers button")).toEqual([]);
    expect(await page.locator(".stage-note").isVisible()).toBe(false);
  });
});

const HEBREW = "שלום עולם זה משפט קצר";
const ARABIC = "ذهب الولد إلى المدرسة لأنه كان جائعا";

interface Laid {
  /** From left to right. */
  readonly words: readonly string[];
  /** How far each arc begins from the word that is heard, and ends from the word that asks. */
  readonly apart: readonly number[];
}

/** What a person sees of the sentence, by pixels of the window. */
function laidOut(page: Page, answers: string, asker: number): Promise<Laid> {
  return page.evaluate(
    ([answers, asker]) => {
      const boxes = (selector: string): { word: string; left: number; right: number }[] =>
        Array.from(document.querySelectorAll(selector), (one) => {
          const { left, right } = one.getBoundingClientRect();
          return { word: (one.querySelector("bdi") ?? one).textContent ?? "", left, right };
        });
      const [asking, heard] = [boxes(".flow-askers button"), boxes(answers)];
      const outside = (x: number, box: { left: number; right: number } | undefined): number =>
        box === undefined ? Number.NaN : Math.max(0, box.left - x, x - box.right);
      const arcs = Array.from(document.querySelectorAll<SVGPathElement>("heed-flow .flow-bold path"));
      const at = (arc: SVGPathElement, length: number): number => {
        const point = arc.getPointAtLength(length).matrixTransform(arc.getScreenCTM() ?? new DOMMatrix());
        return point.x;
      };
      return {
        words: [...heard].sort((a, b) => a.left - b.left).map(({ word }) => word),
        apart: arcs.flatMap((arc, key) => [
          outside(at(arc, 0), heard[key]),
          outside(at(arc, arc.getTotalLength()), asking[asker]),
        ]),
      };
    },
    [answers, asker] as const,
  );
}

describe("a sentence", () => {
  test.each([
    ["Hebrew", HEBREW, true],
    ["Arabic", ARABIC, true],
    ["Hebrew after a number, with a foreign word", "3 מילים and שלום", true],
    ["English", "The dog saw a cat", false],
    ["English with a word of Hebrew", "The word שלום is short", false],
  ])("%s runs from the side that its first letter says", async (_, sentence, fromRight) => {
    const page = await open();
    await page.locator("#sentence").fill(sentence);
    await page.locator(".flow-askers button").nth(1).click();
    const words = sentence.split(" ");
    const shown = fromRight ? [...words].reverse() : words;
    const look = () => laidOut(page, ".flow-askers button", 1);
    await expect.poll(async () => (await look()).words).toEqual(shown);
    await expect.poll(async () => Math.max(...(await look()).apart)).toBe(0);
    expect((await look()).apart).toHaveLength(2 * words.length);
    // To be hidden, in the same order.
    const chips = await page
      .locator(".chips button")
      .evaluateAll((all) =>
        all
          .sort((a, b) => a.getBoundingClientRect().left - b.getBoundingClientRect().left)
          .map(({ textContent }) => textContent),
      );
    expect(chips).toEqual(shown);
  });

  test.each([
    ["Hebrew", `${HEBREW} `.repeat(3).trim(), true],
    ["English", "The dog saw a cat and then the cat saw the dog too", false],
  ])("%s that is too long for a phone has the words that ask on its own side", async (_, sentence, fromRight) => {
    const page = await open("matrix-walk.html", { viewport: { width: 390, height: 844 }, hasTouch: true });
    await page.locator("#sentence").fill(sentence);
    await page.locator(".flow-askers button").nth(1).click();
    expect(await page.locator("heed-flow").getAttribute("data-mode")).toBe("columns");
    const middle = async (part: string): Promise<number> => {
      const box = await page.locator(`heed-flow ${part}`).boundingBox();
      return (box?.x ?? Number.NaN) + (box?.width ?? Number.NaN) / 2;
    };
    expect((await middle(".flow-askers")) > (await middle(".flow-answers"))).toBe(fromRight);
    // Beside the words, as near to them as in the line.
    const look = () => laidOut(page, ".flow-answers .flow-word", 1);
    await expect.poll(async () => Math.max(...(await look()).apart)).toBeLessThan(6);
    const between = await page.evaluate(() => {
      const [asking, heard] = [".flow-askers", ".flow-answers"].map((part) =>
        document.querySelector(part)?.getBoundingClientRect(),
      );
      const arcs = document.querySelector("heed-flow .flow-bold")?.getBoundingClientRect();
      if (asking === undefined || heard === undefined || arcs === undefined) return false;
      const [left, right] = asking.left < heard.left ? [asking, heard] : [heard, asking];
      // A round end of a thick arc reaches beyond its point.
      return arcs.left > left.right - 10 && arcs.right < right.left + 10 && arcs.width > 20;
    });
    expect(between).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });
});
