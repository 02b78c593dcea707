// Files that the demo hands out when its buttons are pressed.

import { readFileSync } from "node:fs";
import type { Page } from "playwright";
import { openMenu } from "./page.js";

export async function saved(page: Page, picture: string, kind: "SVG" | "PNG" | "JSON"): Promise<Buffer> {
  await openMenu(page, picture);
  const download = page.waitForEvent("download");
  await page.locator(`.menu[open] [data-save="${kind}"]`).click();
  return readFileSync(await (await download).path());
}

export async function jsonOf<T>(page: Page, picture: string): Promise<T> {
  return JSON.parse((await saved(page, picture, "JSON")).toString("utf8"));
}
