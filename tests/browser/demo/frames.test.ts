// How long the page's thread computes for a frame while somebody moves a picture, forwards and back.

import type { Page } from "playwright";
import { expect, test } from "vitest";
import { demoInChromium } from "./chromium.js";
import { kernelAnswered } from "./page.js";
import { frameTime, TIME_FOR_TRIES } from "./tasks.js";

const { open } = demoInChromium();

const FRAMES = 60;
/** Milliseconds of the processor's time. */
const LIMIT = 20;

const BOARD = ".board-scrubber input";
const boardOf = (picture: string): string => `[data-picture="${picture}"] ${BOARD}`;

test.each([
  ["the matrix walk", "matrix-walk.html", BOARD],
  ["24 words of 16 numbers", `matrix-walk.html#d=16&t=${"cat+saw+it+run+".repeat(6)}`, BOARD],
  ["temperatures of a dictionary", "dictionary.html", '[data-picture="cabinet"] input[type="range"]'],
  ["widths", "scale.html", '[data-picture="row"] input[type="range"]'],
  ["masks", "masks.html", BOARD],
  ["heads", "heads.html#h=4", BOARD],
  ["words that change places", "order.html", 'heed-order input[type="range"]'],
  ["a convolution", "what-else.html", boardOf("convolution")],
  ["a dense layer", "what-else.html#as=layer", boardOf("layer")],
  ["fast weights", "what-else.html#as=layer", boardOf("fast-weights")],
  ["a graph", "what-else.html#as=graph", boardOf("graph")],
  ["a date as it is written", "translation.html", '[data-picture="translation"] .with-slider input'],
])(
  "%s",
  async (_, path, slider) => {
    const page = await open(path, { reducedMotion: "no-preference" });
    const watched = { page, prepare: () => kernelAnswered(page), act: () => slide(page, slider) };
    const { frames, ms } = await frameTime(LIMIT, watched);
    expect(frames).toBeGreaterThan(FRAMES / 2);
    expect(ms).toBeLessThan(LIMIT);
  },
  TIME_FOR_TRIES,
);

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
