// The API reference: every public name is there with its type and words about it, and can be found.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { apiPage } from "../../../demo/api.js";
import { axeFindings, demoInChromium } from "./chromium.js";

const SURFACE = new URL("../../package/surface/", import.meta.url);
const { open } = demoInChromium();

/** The sections of a page by the names that they are about. */
function sectionsOf(page: string): ReadonlyMap<string, string> {
  const [, body = ""] = apiPage(page) ?? [];
  const sections = body.split('<section class="api">').slice(1);
  return new Map(sections.map((section) => [/<h3 id="([^"]+)"/.exec(section)?.[1] ?? "", section]));
}

const RECORDS = readdirSync(SURFACE).map((file) => file.replace(".txt", ""));

describe.each(RECORDS)("the entry %s", (entry) => {
  const record = readFileSync(new URL(`${entry}.txt`, SURFACE), "utf8");
  const sections = sectionsOf(`api-${entry}.html`);
  const names = Array.from(record.matchAll(/^(?:interface|class|type|const) (\w+)/gm), ([, name = ""]) => name);

  test("has every name of the package's surface, with its type and words about it", () => {
    expect(names.length).toBeGreaterThan(0);
    const without = names.filter((name) => {
      const section = sections.get(name) ?? "";
      return !/<code>[^<]*\w/.test(section) || !/<\/pre>\n<p>[^<]*\w|<\/pre>\n<p><code>/.test(section);
    });
    expect(without).toEqual([]);
  });

  test("has no import in a type, and no declaration of TypeScript's own making", () => {
    const all = Array.from(sections.values()).join("");
    expect(all).not.toMatch(/import\(|_base\b|never<\/code>/);
  });
});

test("the options of a call stand with their types and defaults, and lead to the types of others", () => {
  const options = sectionsOf("api-heed.html").get("AttentionOptions") ?? "";
  expect(options).toContain('<dt id="AttentionOptions.scale"><code>scale?: number</code></dt>');
  expect(options).toMatch(/Default 1 \/ sqrt\(head_dim\)/);
  expect(options).toContain('<a href="./api-expr.html#ScoreModArguments">');
});

test.each(["api.html", "api-heed.html", "api-layers.html"])(
  "%s has nothing that axe objects to, and is not too wide",
  async (path) => {
    for (const width of [1280, 390]) {
      const page = await open(path, { viewport: { width, height: 800 } });
      expect(await axeFindings(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await axeFindings(page, { colours: true })).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
  },
);
