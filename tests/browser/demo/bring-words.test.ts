// Room 12 in real Chromium: the words of tokens on the map, heads in rows of layers, and one number for one key.

import type { Locator, Page } from "playwright";
import { describe, expect, test } from "vitest";
import { normal } from "../../../demo/src/model/random.js";
import { brought, message, PAGE, paste } from "./bringing.js";
import { demoInChromium } from "./chromium.js";
import { total } from "./numbers.js";
import { hashOf } from "./page.js";
import { jsonOf } from "./saved.js";

const { open } = demoInChromium();
const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
] as const;

const WORDS = "[CLS] the animal did not cross the road because it was tired".split(" ");

/** Rows that add up to 1, of so many queries and keys. */
function weights(queries: number, keys: number): number[][] {
  const next = normal(queries * keys);
  return Array.from({ length: queries }, () => {
    const row = Array.from({ length: keys }, () => Math.exp(next()));
    return row.map((one) => one / total(row));
  });
}

interface Written {
  readonly word: string;
  /** Its middle, in cells from the first in view. */
  readonly at: number;
  readonly isOwn: boolean;
}

/** The words on an axis, and where they stand beside the map. */
async function written(page: Page, axis: "across" | "down", span: number): Promise<readonly Written[]> {
  return await page.locator("heed-map").evaluate(
    async (map, { axis, span }) => {
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      const stage = map.querySelector(".map-stage")?.getBoundingClientRect() ?? new DOMRect();
      return Array.from(map.querySelectorAll(`.map-words.${axis} span`), (element) => {
        const box = element.getBoundingClientRect();
        const [middle, from] =
          axis === "across" ? [(box.left + box.right) / 2, stage.left] : [(box.top + box.bottom) / 2, stage.top];
        const at = ((middle - from) / stage.width) * span;
        return { word: element.textContent ?? "", at, isOwn: element.classList.contains("own") };
      });
    },
    { axis, span },
  );
}

function expectAtCells(shown: readonly Written[], cells: readonly number[], words: readonly string[]): void {
  expect(shown.map(({ word }) => word)).toEqual(words);
  shown.forEach(({ at }, index) => {
    expect(Math.abs(at - (cells[index] ?? Number.NaN) - 0.5)).toBeLessThan(0.1);
  });
}

describe.each(SIZES)("on a screen $width wide", (viewport) => {
  test("tokens beside arrays stand at the rows and columns of the map, zoomed in as well", async () => {
    const page = await open(PAGE, { viewport });
    await brought(page, { weights: weights(12, 12), tokens: WORDS });
    const all = WORDS.map((_, index) => index);
    for (const axis of ["across", "down"] as const) expectAtCells(await written(page, axis, 12), all, WORDS);
    const stage = page.locator(".map-stage");
    const { width = 0 } = (await stage.boundingBox()) ?? {};
    await stage.click({ position: { x: (9.5 * width) / 12, y: (2.5 * width) / 12 } });
    expect(await page.locator(".readout-subject").textContent()).toContain("k10 it for q3 animal");
    const own = async (axis: "across" | "down") => (await written(page, axis, 12)).find(({ isOwn }) => isOwn)?.word;
    expect([await own("across"), await own("down")]).toEqual(["it", "animal"]);
    await stage.press("+");
    const { window } = await jsonOf<{ window: { top: number; left: number; span: number } }>(page, "map");
    expect(window.span).toBe(8);
    for (const [axis, from] of [
      ["across", window.left],
      ["down", window.top],
    ] as const) {
      const seen = all.filter((index) => index + 0.5 >= from && index + 0.5 <= from + 8);
      const cells = seen.map((index) => index - from);
      expectAtCells(
        await written(page, axis, 8),
        cells,
        seen.map((index) => WORDS[index] ?? ""),
      );
    }
  });

  test("words of many tokens leave each other room, and the one in the light is there", async () => {
    const page = await open(PAGE, { viewport });
    const tokens = Array.from({ length: 200 }, (_, index) => `w${index}`);
    await brought(page, { weights: weights(200, 200), tokens });
    for (let press = 0; press < 3; press++) await page.locator(".map-stage").press("ArrowRight");
    const shown = await written(page, "across", 200);
    const { width = 0 } = (await page.locator(".map-stage").boundingBox()) ?? {};
    expect(shown.length).toBeGreaterThan(8);
    shown.forEach(({ word, at }, index) => {
      expect(Math.abs(at - Number(word.slice(1)) - 0.5)).toBeLessThan(1);
      const before = shown[index - 1]?.at ?? Number.NEGATIVE_INFINITY;
      expect(((at - before) * width) / 200).toBeGreaterThan(12);
    });
    expect(shown.find(({ isOwn }) => isOwn)?.word).toMatch(/^w\d+$/);
  });

  test.each([2, 12])("each row of the grid of %i heads is one layer, and says so", async (heads) => {
    const page = await open(PAGE, { viewport });
    const head = weights(4, 4);
    const layer = Array.from({ length: heads }, () => head);
    await brought(page, { weights: [layer, layer, layer] });
    const model = page.locator('[data-picture="model"]');
    await model.scrollIntoViewIfNeeded();
    await model.locator('[role="status"]', { hasText: "From all rows" }).waitFor();
    const middles = (parts: Locator) =>
      parts.evaluateAll((all) =>
        all.map((one) => {
          const { top, bottom } = one.getBoundingClientRect();
          return { text: one.ariaLabel ?? one.textContent ?? "", middle: Math.round((top + bottom) / 2) };
        }),
      );
    const [names, tiles] = [
      await middles(model.locator(".heads-layer")),
      await middles(model.locator("heed-heads button")),
    ];
    expect(names.map(({ text }) => text)).toEqual(["layer 1", "layer 2", "layer 3"]);
    expect(new Set(names.map(({ middle }) => middle)).size).toBe(3);
    const wanted = names.flatMap(({ middle }) => Array.from({ length: heads }, () => middle));
    tiles.forEach(({ text, middle }, index) => {
      expect(text).toContain(`Layer ${Math.floor(index / heads) + 1}, head ${(index % heads) + 1}`);
      expect(Math.abs(middle - (wanted[index] ?? Number.NaN))).toBeLessThanOrEqual(1);
    });
    const wider = (selector: string) =>
      page.locator(selector).evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
    expect(await wider("html")).toBe(0);
    if (viewport.width === 1280) expect(await wider(".heads-rows")).toBe(0);
  });
});

test("queries and keys may have words of their own", async () => {
  const page = await open(PAGE);
  const [queryTokens, keyTokens] = [WORDS.slice(0, 9), WORDS.slice(2)];
  await brought(page, { weights: weights(9, 10), queryTokens, keyTokens });
  const shown = async (axis: "across" | "down") => (await written(page, axis, 10)).map(({ word }) => word);
  expect([await shown("down"), await shown("across")]).toEqual([queryTokens, keyTokens]);
});

test("a list of words of another length is refused in words; a fitting one may come later", async () => {
  const page = await open(PAGE);
  await paste(page, { weights: weights(9, 9), tokens: WORDS });
  await message(page).filter({ hasText: "“tokens” has 12 words for 9 queries and 9 keys." }).waitFor();
  expect(await hashOf(page)).not.toContain("from=own");
  await brought(page, { tokens: WORDS.slice(0, 9) });
  expect((await written(page, "across", 9)).map(({ word }) => word)).toEqual(WORDS.slice(0, 9));
});
