// A visit to a page of a consumer's, in Chromium: the outcome that it leaves, and what it asked for.

import { type Browser, chromium, type Frame, firefox, type Page } from "playwright";
import { expect, inject } from "vitest";
import { expectRight, type Outcome } from "./outcome.js";

export type Visit = Outcome & Observed;

export interface Observed {
  readonly requests: readonly string[];
  /** What the page and the browser complained of. */
  readonly complaints: readonly string[];
}

export function openChromium(): Promise<Browser> {
  // As root, Chromium has no sandbox.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: inject("chromiumPath"), args });
}

/** An ordinary Firefox, by WebDriver BiDi. */
export function openFirefox(executablePath: string): Promise<Browser> {
  return firefox.launch({ channel: "moz-firefox", executablePath });
}

/** `frameOf` picks the frame that computes, where that is not the page's own. */
export async function visit<Left = Outcome>(
  browser: Pick<Browser, "newPage">,
  address: string,
  frameOf: (page: Page) => Promise<Frame> = async (page) => page.mainFrame(),
): Promise<Left & Observed> {
  const page = await browser.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  try {
    await page.goto(address);
    const frame = await frameOf(page);
    const handle = await frame.waitForFunction(() => Reflect.get(globalThis, "outcome"), undefined, {
      timeout: 30_000,
    });
    return { ...(await handle.jsonValue()), requests, complaints };
  } catch (error) {
    throw new Error(`no outcome at ${address}: ${String(error)}\n${[...complaints, ...requests].join("\n")}`);
  } finally {
    await page.close();
  }
}

/** Right numbers, computed where they should be; the reasons tell why not. */
export function expectWorker(found: Visit, worker: string | null): void {
  expectRight(found);
  expect({ worker: found.worker, reasons: found.reasons }).toMatchObject({ worker });
}
