// What a frame costs while somebody moves a picture, forwards and back: in pieces of the browser's work, which no load of the machine
// changes, not in milliseconds.

import type { Page } from "playwright";
import { expect, test } from "vitest";
import { demoInChromium } from "./chromium.js";

const { answered } = demoInChromium();

const FRAMES = 60;
/** A picture may ask once for a size while it draws; reading and writing by turns would lay the page out again for each of its parts. */
const LAYOUTS = 2;
const STYLES = 3;
/** 24 words of 16 numbers make 420. */
const NODES = 500;

const BOARD = ".board-scrubber input";
const boardOf = (picture: string): string => `[data-picture="${picture}"] ${BOARD}`;

test.each([
  ["the matrix walk", "matrix-walk.html", BOARD],
  ["24 words of 16 numbers", `matrix-walk.html#d=16&t=${"cat+saw+it+run+".repeat(6)}`, BOARD],
  ["temperatures of a dictionary", "dictionary.html", '[data-picture="cabinet"] input[type="range"]'],
  ["widths", "scale.html", '[data-picture="row"] input[type="range"]'],
  ["masks", "masks.html", BOARD],
  ["heads", "heads.html#h=4", BOARD],
  ["words that change places", "order.html", '.order-board input[type="range"]'],
  ["a convolution", "what-else.html", boardOf("convolution")],
  ["a dense layer", "what-else.html#as=layer", boardOf("layer")],
  ["fast weights", "what-else.html#as=layer", boardOf("fast-weights")],
  ["a graph", "what-else.html#as=graph", boardOf("graph")],
  ["a date as it is written", "translation.html", '[data-picture="translation"] .board input'],
])("%s", async (_, path, slider) => {
  const page = await answered(path, { reducedMotion: "no-preference" });
  const perFrame = await workPerFrame(page, () => slide(page, slider));
  expect(perFrame("LayoutCount")).toBeGreaterThan(0.5);
  expect(perFrame("LayoutCount")).toBeLessThanOrEqual(LAYOUTS);
  expect(perFrame("RecalcStyleCount")).toBeLessThanOrEqual(STYLES);
  expect(perFrame("Nodes")).toBeLessThanOrEqual(NODES);
});

/** What the browser counts of a page while it acts, for each frame that it drew meanwhile, the moments before and after included. */
async function workPerFrame(page: Page, act: () => Promise<unknown>): Promise<(name: string) => number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const counts = async (): Promise<Map<string, number>> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return new Map(metrics.map(({ name, value }) => [name, value]));
  };
  const frames = await page.evaluateHandle(() => {
    const drawn = { count: 0 };
    const count = (): void => {
      drawn.count += 1;
      requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
    return drawn;
  });
  const before = await counts();
  await act();
  const after = await counts();
  const { count } = await frames.jsonValue();
  return (name) => ((after.get(name) ?? Number.NaN) - (before.get(name) ?? Number.NaN)) / count;
}

/** From one end to the other and back. */
async function slide(page: Page, slider: string): Promise<void> {
  await page
    .locator(slider)
    .first()
    .evaluate(async (range, frames) => {
      if (!(range instanceof HTMLInputElement)) throw new TypeError("no slider");
      const [least, most] = [Number(range.min), Number(range.max)];
      for (let frame = 0; frame < frames; frame++) {
        const way = 1 - Math.abs((2 * frame) / frames - 1);
        range.value = String(least + way * (most - least));
        range.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise(requestAnimationFrame);
      }
    }, FRAMES);
}
