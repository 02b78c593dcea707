// Docs and examples as pages of the site, and the links in the foot of every page.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { DOCUMENT_PAGES, DOCUMENTS } from "../../../demo/documents.js";
import { PAGES } from "../../../demo/frame.js";
import { links } from "../../../demo/package-links.js";
import { axeFindings, demoInChromium } from "./chromium.js";

const { open, site } = demoInChromium();

test("every link within docs and examples leads to a page that exists, and to a heading on it", async () => {
  const ids = new Map<string, Set<string>>();
  const hrefs: [from: string, href: string][] = [];
  for (const page of DOCUMENT_PAGES) {
    const response = await fetch(site().isolated + page);
    expect(response.status, page).toBe(200);
    const html = await response.text();
    expect(html, page).toContain('<article class="document">');
    ids.set(page, new Set(Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id = ""]) => id)));
    for (const [, href = ""] of html.matchAll(/href="(\.\/[^"]+\.html[^"]*|#[^"]+)"/g)) hrefs.push([page, href]);
  }
  expect(hrefs.length).toBeGreaterThan(100);
  for (const [from, href] of hrefs) {
    const [path = "", place] = href.split("#");
    const page = path === "" ? from : path.slice(2);
    const known = ids.get(page);
    if (known === undefined)
      expect(PAGES.map(({ file }) => file).concat("five-minutes.html"), `${from}: ${href}`).toContain(page);
    else if (place !== undefined) expect(known, `${from}: ${href}`).toContain(place);
  }
});

test("the docs say what the Markdown says", async () => {
  const [page, path] = Array.from(DOCUMENTS).find(([, one]) => one === "docs/hosting.md") ?? ["", ""];
  const opened = await open(page);
  const markdown = readFileSync(path, "utf8");
  expect(await opened.locator("h1").innerText()).toBe(/^# (.*)$/m.exec(markdown)?.[1]);
  expect(await opened.locator("article h2").count()).toBe(markdown.match(/^## /gm)?.length ?? 0);
  expect(await opened.locator("article pre").count()).toBe((markdown.match(/^```/gm)?.length ?? 0) / 2);
});

test.each(["docs.html", "docs-semantics-attention.html", "examples.html", "examples-page-main.html"])(
  "%s has nothing that axe objects to, and is not too wide",
  async (page) => {
    for (const width of [1280, 390]) {
      const opened = await open(page, { viewport: { width, height: 800 } });
      expect(await axeFindings(opened)).toEqual([]);
      await opened.emulateMedia({ colorScheme: "dark" });
      expect(await axeFindings(opened, { colours: true })).toEqual([]);
      expect(await opened.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
  },
);

test.each(["index.html", "five-minutes.html", "scale.html", "docs.html"])(
  "%s leads to docs and examples",
  async (page) => {
    const opened = await open(page);
    const foot = opened.locator("footer");
    expect(await foot.getByRole("link", { name: "Examples" }).getAttribute("href")).toBe("./examples.html");
    await foot.getByRole("link", { name: "Docs", exact: true }).click();
    await expect.poll(() => opened.locator("h1").innerText()).toBe("Docs");
  },
);

describe("links of a package", () => {
  test("name the repository and the place for faults where package.json does", () => {
    const repository = { url: "git+https://example.org/heed.git" };
    const both = links({ repository, bugs: "https://example.org/heed/issues" });
    expect(both).toContain('<a href="https://example.org/heed">Source</a>');
    expect(both).toContain('<a href="https://example.org/heed/issues">Report a fault</a>');
  });

  test("are those of the site alone where it names none, or no address", () => {
    expect(links({})).not.toMatch(/Source|fault/);
    expect(links({ repository: "github:someone/heed" })).not.toContain("Source");
  });
});
