// How a person brings something to room 12, and what the room says to it.

import type { Locator, Page } from "playwright";

export const PAGE = "bring-your-own.html";

export function message(page: Page): Locator {
  return page.locator(".bringing .field-message");
}

export async function paste(page: Page, value: unknown): Promise<void> {
  const bringing = page.locator(".bringing");
  if ((await bringing.getAttribute("open")) === null) await bringing.locator("summary").click();
  await page.getByLabel("or paste JSON").fill(typeof value === "string" ? value : JSON.stringify(value));
  await page.getByRole("button", { name: "Load" }).click();
}
