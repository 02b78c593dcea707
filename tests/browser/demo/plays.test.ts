// Boards that play once by themselves when they come into view, and rest.

import type { Page } from "playwright";
import { expect, test } from "vitest";
import { demoInChromium } from "./chromium.js";
import { hashOf } from "./page.js";

const { answered } = demoInChromium();

const scrubber = (page: Page, picture: string) =>
  page.locator(`[data-picture="${picture}"] .board-scrubber > input`).first();

/** All places that the scrubber comes to from now on. */
async function watch(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen: Record<string, number[]> = {};
    Object.assign(globalThis, { seen });
    const look = (): void => {
      for (const input of document.querySelectorAll<HTMLInputElement>(".board-scrubber > input")) {
        const name = input.closest<HTMLElement>("[data-picture]")?.dataset["picture"] ?? "";
        seen[name] = [...(seen[name] ?? []), Number(input.value)];
      }
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}

test.each([
  ["matrix-walk.html", "walk", 7],
  ["masks.html", "mask", 1],
  ["heads.html", "heads", 2],
  ["what-else.html", "convolution", 3],
])("%s: the board plays to its most telling place, and adds nothing to the history", async (path, picture, rests) => {
  const page = await answered(path, {
    reducedMotion: "no-preference",
    alone: true,
    viewport: { width: 1280, height: 1000 },
    watch: (page) => void watch(page),
  });
  await expect.poll(() => scrubber(page, picture).inputValue().then(Number)).toBe(rests);
  const places = (await page.evaluate<number[]>(`seen["${picture}"]`)).filter((place) => place > 0 && place < rests);
  expect(places.length).toBeGreaterThan(5);
  expect(places).toEqual([...places].sort((a, b) => a - b));
  // The blank page that it came from, and its own.
  expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
  await page.getByRole("heading", { level: 1 }).hover();
  expect(await scrubber(page, picture).inputValue().then(Number)).toBe(rests);
});

test.each([
  ["where nothing shall move", "matrix-walk.html", "reduce", 0],
  ["where an address says what is shown", "matrix-walk.html#d=8&step=scale", "no-preference", 5],
] as const)("it stands still %s", async (_, path, reducedMotion, place) => {
  const page = await answered(path, { reducedMotion, viewport: { width: 1280, height: 1000 } });
  await page.locator(".board-scrubber > input").first().scrollIntoViewIfNeeded();
  const frames = await page.evaluate(async () => {
    const values = new Set<string>();
    for (let frame = 0; frame < 30; frame++) {
      values.add(document.querySelector<HTMLInputElement>(".board-scrubber > input")?.value ?? "");
      await new Promise(requestAnimationFrame);
    }
    return [...values];
  });
  expect(frames).toEqual([String(place)]);
  expect(await hashOf(page)).toBe(path.includes("#") ? "#d=8&step=scale" : "");
});

test("“Play” goes on from where a board is gliding to, and says “Stop” while it plays by itself", async () => {
  const page = await answered("matrix-walk.html", {
    reducedMotion: "no-preference",
    alone: true,
    viewport: { width: 1280, height: 1000 },
  });
  const play = (name: string) => page.getByRole("button", { name, exact: true });
  await play("Stop").waitFor();
  await page.getByRole("button", { name: "O", exact: true }).click();
  await play("Play").waitFor();
  await expect.poll(() => scrubber(page, "walk").inputValue().then(Number)).toBe(8);
  await page.getByRole("button", { name: "X", exact: true }).click();
  await play("Play").click();
  await play("Stop").waitFor();
  const from = await scrubber(page, "walk").inputValue().then(Number);
  await expect.poll(() => scrubber(page, "walk").inputValue().then(Number)).toBeGreaterThan(from);
  await play("Stop").click();
  const stands = await scrubber(page, "walk").inputValue();
  await page.evaluate(async () => {
    for (let frame = 0; frame < 5; frame++) await new Promise(requestAnimationFrame);
  });
  expect(await scrubber(page, "walk").inputValue()).toBe(stands);
});
