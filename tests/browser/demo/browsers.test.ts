// The site from a static server in Chromium, Firefox and WebKit: every page opens and nothing complains, and a task is trained.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, firefox, type Page } from "playwright";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { DOCUMENT_PAGES } from "../../../demo/documents.js";
import { FRONT, PAGES, SPEED, THREAD } from "../../../demo/frame.js";
import { WebKitSession } from "../../support/webkit.js";
import { openSite, type Site } from "./site.js";

/** What all three can be asked to do. */
interface Browsing {
  readonly go: (address: string) => Promise<void>;
  readonly valueOf: (expression: string) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

async function browsing(open: Promise<{ newPage(): Promise<Page>; close(): Promise<void> }>): Promise<Browsing> {
  const browser = await open;
  const page = await browser.newPage();
  return {
    go: async (address) => {
      await page.goto(address);
    },
    valueOf: (expression) => page.evaluate(expression),
    close: () => browser.close(),
  };
}

const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const [firefoxPath, webkit] = [inject("firefoxPath"), inject("webkit")];
const BROWSERS: readonly (readonly [name: string, open: () => Promise<Browsing>])[] = [
  ["Chromium", () => browsing(chromium.launch({ executablePath: inject("chromiumPath"), args }))],
  ...(firefoxPath === null
    ? []
    : [["Firefox", () => browsing(firefox.launch({ channel: "moz-firefox", executablePath: firefoxPath }))] as const]),
  ...(webkit === null
    ? []
    : [["WebKit", async () => new WebKitSession({ ...webkit, driver: webkit.path, engine: {} })] as const]),
];

/** Keeps what a page complains of, from its first script on: not every driver tells. */
const LISTENER = `window.complaints = [];
for (const name of ["error", "warn"]) console[name] = (...said) => window.complaints.push(said.join(" "));
addEventListener("error", (event) => window.complaints.push(event.message ?? "a file does not load: " + event.target.src), true);
addEventListener("unhandledrejection", ({ reason }) => window.complaints.push(String(reason)));
addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => window.complaints.push(violatedDirective + " forbids " + blockedURI));
`;

/** As when nobody has done anything yet: a page to read stands at once, a room when its engine answers. */
const STANDS = `Boolean(document.readyState === "complete" &&
  (document.querySelector("article.document, .thread-said, button.asked-word") ??
    (document.querySelector('#status-summary[data-kind="ready"]') && document.querySelector(".agreement:not(:empty)"))))`;

let site: Site;
beforeAll(async () => {
  site = await openSite();
  writeFileSync(join(site.folder, "complaints.js"), LISTENER);
  for (const file of readdirSync(site.folder).filter((name) => name.endsWith(".html"))) {
    const path = join(site.folder, file);
    writeFileSync(path, readFileSync(path, "utf8").replace("<head>", '<head><script src="./complaints.js"></script>'));
  }
});
afterAll(() => site.close());

describe.each(BROWSERS)("%s", (_name, open) => {
  let page: Browsing;
  beforeAll(async () => {
    page = await open();
  });
  afterAll(() => page.close());

  test.each(["isolated", "plain"] as const)(
    "opens every page of the %s site without complaints",
    {
      timeout: 400_000,
    },
    async (kind) => {
      const made = [FRONT, THREAD, SPEED, ...PAGES.map(({ file }) => file)];
      // Pages to read are the same with and without isolation.
      for (const file of kind === "isolated" ? [...made, ...DOCUMENT_PAGES] : made) {
        await page.go(site[kind] + file);
        await expect.poll(() => page.valueOf(STANDS), { message: file }).toBe(true);
        expect(await page.valueOf("window.complaints"), file).toEqual([]);
      }
    },
  );

  test("trains the first task of Learning", { timeout: 300_000 }, async () => {
    await page.go(`${site.plain}learning.html`);
    await expect.poll(() => page.valueOf(STANDS)).toBe(true);
    const press = (kind: string, text: string) =>
      page.valueOf(
        `[...document.querySelectorAll("${kind}")].find((one) => one.textContent.trim() === "${text}").click()`,
      );
    // What comes first is guessed.
    await press("label", "d");
    await press("button", "Train");
    const said = `[...document.querySelectorAll(".learning-stage [role=status]")].map((one) => one.textContent).join("\\n")`;
    await expect.poll(() => page.valueOf(said), { timeout: 250_000 }).toContain("steps in");
    expect(await page.valueOf(`document.querySelector(".learning-word").textContent`)).toBe("stressed → desserts");
    expect(await page.valueOf("window.complaints")).toEqual([]);
  });
});
