// Pictures and what stands beside them: saved without their controls, wide enough for a phone, and clear about what they show.

import { expect, test } from "vitest";
import { billions } from "../../../demo/rooms/05-masks/cost.js";
import { message, paste } from "./bringing.js";
import { demoInChromium } from "./chromium.js";
import { saved } from "./saved.js";

const { answered, open } = demoInChromium();

test.each([
  ["bring-your-own.html", "map", /\bAll\b(?! of)|Zooms about|Stop/],
  ["masks.html", "cost", /Time it|Tiles of|Tokens N/],
  ["order.html", "words", /Shuffle|As written|Swap/],
  ["heads.html", "counts", /Key and value heads|Layers|GPT-3/],
  ["heads.html", "heads", /Play/],
  ["matrix-walk.html", "walk", /Play|softmax/],
] as const)("%s saves “%s” without what one works it with", async (room, picture, controls) => {
  const page = await answered(room);
  const texts = (await saved(page, picture, "SVG")).toString("utf8").matchAll(/<text[^>]*>([^<]*)</g);
  const words = Array.from(texts, ([, text = ""]) => text);
  expect(words.length).toBeGreaterThan(0);
  expect(words.filter((text) => controls.test(text))).toEqual([]);
});

test("every picture can be saved in three kinds", async () => {
  const page = await answered("order.html", { untouched: true });
  for (const name of ["words", "trials"]) {
    const offered = await page.locator(`[data-picture="${name}"] [data-save]`).allTextContents();
    expect(offered).toEqual(["SVG", "PNG", "JSON"]);
  }
});

test("what is far away stands on a phone with all its columns", async () => {
  const page = await open("what-else.html#as=reach&n=8192&k=9", { viewport: { width: 360, height: 740 } });
  const hidden = await page
    .locator(".table-frame:has(.reach)")
    .evaluate((frame) => frame.scrollWidth - frame.clientWidth);
  expect(hidden).toBeLessThanOrEqual(0);
});

test("times say for how many tokens they are, stopped or not", async () => {
  const page = await answered("masks.html#N=131072");
  const cost = page.locator('[data-picture="cost"]');
  await cost.getByRole("button", { name: "Time it on this device" }).click();
  await cost.locator(".laps tbody tr").first().waitFor();
  await cost.getByRole("button", { name: "Stop" }).click();
  await cost.locator(".race", { hasText: "Stopped." }).waitFor();
  expect(await cost.locator(".laps caption").textContent()).toBe("On this device, 4,096 tokens");
  expect(await cost.locator("tbody").first().textContent()).toContain("26,388 billion");
});

test("multiply-adds have separators", () => {
  expect([1.5e9, 15e9, 150e9, 26_388e9].map(billions)).toEqual([
    "1.50 billion",
    "15.0 billion",
    "150 billion",
    "26,388 billion",
  ]);
});

test.each(["map", "model"])(
  "the %s of another source is drawn where the one before was stopped just now",
  async (name) => {
    const page = await answered("bring-your-own.html#N=32768");
    const head = [
      [1, 0],
      [0.5, 0.5],
    ];
    await paste(page, { weights: [[head, head]] });
    await message(page).filter({ hasText: "Taken:" }).waitFor();
    await page.goBack();
    const picture = page.locator(`[data-picture="${name}"]`);
    await picture.scrollIntoViewIfNeeded();
    const stop = picture.locator(".race button", { hasText: "Stop" });
    // In one task: stopped work ends a moment later.
    await stop.evaluate((button) => {
      if (button instanceof HTMLElement) button.click();
      document.querySelector<HTMLElement>('input[value="own"]')?.click();
    });
    const all = picture.locator(".race [role=status]", { hasText: /^(?:Drawn from 4 weights|From all rows)/ });
    await all.waitFor({ timeout: 20_000 });
  },
);

test.each([
  ["[[1e30, 1]]", "[[1e30, 1]]", "would be too large for single precision"],
  ["[[1e300, 1]]", "[[1, 1]]", "holds numbers too large for single precision"],
])("queries %s and keys %s are refused in words", async (q, k, words) => {
  const page = await answered("bring-your-own.html");
  await page.locator(".bringing > summary").click();
  await page.locator("#pasted").fill(`{ "q": ${q}, "k": ${k} }`);
  await page.getByRole("button", { name: "Load" }).click();
  await page.locator(".bringing .field-message", { hasText: words }).waitFor();
  expect(await page.locator(".bringing .field-message").textContent()).not.toMatch(/Infinity|NaN/);
});
