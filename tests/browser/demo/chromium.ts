// The built demo in real Chromium, for one file of tests: pages that are closed after each test, and a console that must stay quiet.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright";
import { afterAll, afterEach, beforeAll, expect, inject } from "vitest";
import { openSite, type Site } from "./site.js";

/** Chromium's own remark where a large call asks for a GPU and there is none. */
const NO_GPU = "No available adapters.";

export interface OpenOptions extends BrowserContextOptions {
  /** Runs in the page before anything of its own. */
  readonly before?: () => void;
}

export interface Demo {
  /** Opens a page of the demo, "scale.html#d=8", and waits until its room stands. */
  readonly open: (path?: string, options?: OpenOptions, kind?: "isolated" | "plain") => Promise<Page>;
  readonly site: () => Site;
}

export function demoInChromium(): Demo {
  let site: Site | undefined;
  let browser: Browser | undefined;
  const complaints: string[] = [];
  const pages: Page[] = [];

  beforeAll(async () => {
    site = await openSite();
    const executablePath = inject("chromiumPath") ?? process.env["CHROME_PATH"] ?? "/usr/bin/chromium";
    // As root, Chromium has no sandbox.
    browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  afterEach(async () => {
    await Promise.all(pages.splice(0).map((page) => page.context().close()));
    expect(complaints.splice(0), "the console").toEqual([]);
  });

  const started = <T>(what: T | undefined): T => {
    if (what === undefined) throw new Error("asked for before the tests began");
    return what;
  };
  return {
    site: () => started(site),
    open: async (path = "", { before, ...options } = {}, kind = "isolated") => {
      const context = await started(browser).newContext({
        viewport: { width: 1280, height: 900 },
        reducedMotion: "reduce",
        ...options,
      });
      const page = await context.newPage();
      pages.push(page);
      if (before !== undefined) await page.addInitScript(before);
      page.on("console", (message) => {
        const isComplaint = message.type() === "error" || message.type() === "warning";
        if (isComplaint && message.text() !== NO_GPU) complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(error.message));
      await page.goto(started(site)[kind] + path);
      await page.locator(".agreement").waitFor();
      return page;
    },
  };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What axe finds wrong with the page as it stands, one line each. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, { runOnly: { type: "tag", values: ${JSON.stringify(RULES)} } })`,
  );
  return violations.map(
    ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`,
  );
}

/** Every question of layout, colour scheme and size at which a page must hold. */
export const LOOKS = ([360, 1280] as const).flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ width, colorScheme })),
);
