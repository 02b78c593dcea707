// The built demo in real Chromium, for one file of tests: a new page for each test, and a console that must stay quiet.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright";
import { afterAll, afterEach, beforeAll, expect, inject } from "vitest";
import { kernelAnswered, openDrawers } from "./page.js";
import { openSite, type Site } from "./site.js";

/** Chromium's own remark where a large call asks for a GPU and there is none. */
const NO_GPU = "No available adapters.";

export interface OpenOptions extends BrowserContextOptions {
  /** Runs in the page before anything of its own. */
  readonly before?: () => void;
  /** Watches the page from its first request on. */
  readonly watch?: (page: Page) => void;
  /** Has a browser context of its own, which the test may change. */
  readonly alone?: boolean;
  /** Its drawers stay closed. */
  readonly untouched?: boolean;
}

export interface Demo {
  /** Opens a page of the demo, "scale.html#d=8", and waits until it stands; without a path the matrix walk. */
  readonly open: (path?: string, options?: OpenOptions, kind?: "isolated" | "plain") => Promise<Page>;
  /** The same, until its numbers are the kernel's. */
  readonly answered: (path?: string, options?: OpenOptions, kind?: "isolated" | "plain") => Promise<Page>;
  /** Opens a page once for all tests of a `describe`, in which each takes the page as the one before left it. */
  readonly shared: (path: string, options: OpenOptions) => () => Page;
  readonly site: () => Site;
}

export function demoInChromium(): Demo {
  let site: Site | undefined;
  let browser: Browser | undefined;
  const complaints: string[] = [];
  const contexts = new Map<string, Promise<BrowserContext>>();
  const opened: (Page | BrowserContext)[] = [];
  // Without any page a context would lose its process, which takes longer to start than a page to load.
  const left: (Page | BrowserContext)[] = [];

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
    left.push(...opened.splice(0));
    expect(complaints.splice(0), "the console").toEqual([]);
  });

  const started = <T>(what: T | undefined): T => {
    if (what === undefined) throw new Error("asked for before the tests began");
    return what;
  };
  const newContext = (options: BrowserContextOptions): Promise<BrowserContext> =>
    started(browser).newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", ...options });
  /** A page of a context that all tests with these options share, and in which nothing is stored. */
  const pageWith = async (options: BrowserContextOptions, origin: string): Promise<Page> => {
    const key = JSON.stringify(options);
    const context = contexts.get(key) ?? newContext(options);
    contexts.set(key, context);
    const page = await (await context).newPage();
    const session = await page.context().newCDPSession(page);
    await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
    await session.detach();
    return page;
  };
  const load = async (
    path: string,
    { before, watch, alone = false, untouched = false, ...options }: OpenOptions,
    kind: "isolated" | "plain" = "isolated",
  ): Promise<Page> => {
    const address = started(site)[kind] + path;
    const page = await (alone ? (await newContext(options)).newPage() : pageWith(options, new URL(address).origin));
    page.setDefaultTimeout(60_000);
    if (before !== undefined) await page.addInitScript(before);
    watch?.(page);
    page.on("console", (message) => {
      const isComplaint = message.type() === "error" || message.type() === "warning";
      if (isComplaint && message.text() !== NO_GPU) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(address);
    await page
      .locator(".agreement, button.asked-word:visible, .thread-said, article.document, .embedded")
      .first()
      .waitFor();
    if (!untouched) await openDrawers(page);
    await Promise.all(left.splice(0).map((one) => one.close()));
    return page;
  };
  const open: Demo["open"] = async (path = "matrix-walk.html", options = {}, kind) => {
    const page = await load(path, options, kind);
    opened.push(options.alone ? page.context() : page);
    return page;
  };
  return {
    site: () => started(site),
    open,
    answered: async (...given) => {
      const page = await open(...given);
      await kernelAnswered(page);
      return page;
    },
    shared: (path, options) => {
      let page: Page | undefined;
      beforeAll(async () => {
        page = await load(path, options);
      });
      afterAll(() => {
        left.push(started(page));
      });
      return () => started(page);
    },
  };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Of those, all that a colour scheme can change the answer to. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

export interface Examined {
  /** A selector: only this part of the page. */
  readonly within?: string;
  /** Only the colours, where all else was examined in another colour scheme. */
  readonly colours?: boolean;
}

/** What axe finds wrong with the page as it stands, one line each. */
export async function axeFindings(page: Page, { within = "html", colours = false }: Examined = {}): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  const runOnly = colours ? { type: "rule", values: COLOUR_RULES } : { type: "tag", values: RULES };
  const options = JSON.stringify({ runOnly, resultTypes: ["violations"] });
  // All that axe returns, with what it is content with, is a megabyte.
  const violations = await page.evaluate<AxeResults["violations"]>(
    `axe.run(${JSON.stringify(within)}, ${options}).then(({ violations }) => violations)`,
  );
  return violations.map(
    ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`,
  );
}
