// Files that the demo hands out when its buttons are pressed.

import { readFileSync } from "node:fs";
import type { Page } from "playwright";

export async function saved(page: Page, picture: string, kind: "SVG" | "PNG" | "JSON"): Promise<Buffer> {
  // Some pictures stand within another, which is saved as a whole.
  const own = page.locator(`[data-picture="${picture}"] [data-save="${kind}"]`);
  const download = page.waitForEvent("download");
  await ((await own.count()) > 0 ? own : page.locator(`[data-save="${kind}"]:visible`).first()).click();
  return readFileSync(await (await download).path());
}

export async function jsonOf<T>(page: Page, picture: string): Promise<T> {
  return JSON.parse((await saved(page, picture, "JSON")).toString("utf8"));
}
