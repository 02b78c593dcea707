// The tab beside the pictures that has the call of what is shown.

import type { Page } from "playwright";
import { expect, test } from "vitest";
import { axeFindings, demoInChromium } from "./chromium.js";
import { copied } from "./copied.js";

const { answered } = demoInChromium();

const showCode = (page: Page) => page.getByRole("radio", { name: "Code" }).check();
const text = (page: Page) => page.locator(".code-text");

test.each([
  "matrix-walk",
  "dictionary",
  "score-lab",
  "scale",
  "masks",
  "heads",
  "order",
  "what-else",
  "learning",
  "translation",
  "language",
  "bring-your-own",
])("%s shows the code that it copies, with long tensors folded", async (room) => {
  const page = await answered(`${room}.html`, { permissions: ["clipboard-read", "clipboard-write"] });
  await showCode(page);
  expect(await page.locator(".readout").isVisible()).toBe(false);
  for (const kind of ["heed", "torch"] as const) {
    await page
      .locator(".code-panel")
      .getByRole("radio", { name: kind === "heed" ? "heed" : "PyTorch" })
      .check();
    const said = await text(page).evaluate((one) =>
      Array.from(one.querySelectorAll("code"), (line) => line.textContent).join(""),
    );
    expect(said.trim()).toBe((await copied(page, kind)).trim());
    await showCode(page);
    expect(await text(page).locator("details[open]").count()).toBe(0);
  }
  expect(await axeFindings(page, { within: ".side" })).toEqual([]);
});

test("what a slider changes is lit, and nothing else", async () => {
  const page = await answered("scale.html#scale=root");
  await showCode(page);
  expect(await text(page).locator(".changed").count()).toBe(0);
  await page.getByRole("slider", { name: "Temperature T" }).first().press("ArrowRight");
  await expect
    .poll(() => text(page).locator(".changed").allTextContents())
    .toContainEqual(expect.stringMatching(/temperature: /));
  expect(await text(page).locator("summary.changed").count()).toBe(0);
});
