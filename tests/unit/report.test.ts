// The page of `npm run bench -- report`, from measurements that were recorded: it stands alone, and each claim stands in its document.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { claimsOf, shapeNamed } from "../../bench/web/report/claims.js";
import { type Documents, type Found, reportPage } from "../../bench/web/report/page.js";
import { bars } from "../../bench/web/report/plot.js";

const text = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const DOCUMENTS: Documents = Object.fromEntries(
  ["README.md", "docs/performance.md", "docs/numerics.md", "docs/conformance.md"].map((path) => [path, text(path)]),
);
const RECORDED: Found = JSON.parse(text("tests/cases/report.json"));
const NOTHING: Found = {
  ...RECORDED,
  web: null,
  train: null,
  models: null,
  weights: null,
  programs: null,
  numerics: null,
  conformance: null,
};

describe("the page", () => {
  const page = reportPage(RECORDED, DOCUMENTS);

  test("needs no program and no other file", () => {
    expect(page).not.toMatch(/<script|<link|@import|src=|url\(/);
    expect(page.match(/<svg /g)?.length).toBe(3);
  });

  test("closes what it opens", () => {
    const open: string[] = [];
    for (const [, end, name = "", , alone] of page.matchAll(/<(\/?)([a-z]\w*)((?:\s[^<>]*?)?)(\/?)>/g)) {
      if (alone === "/" || ["meta", "br", "hr"].includes(name)) continue;
      if (end === "/") expect(open.pop()).toBe(name);
      else open.push(name);
    }
    expect(open).toEqual([]);
  });

  test("says on which machine, and how busy that was", () => {
    for (const value of Object.values(RECORDED.about)) expect(page).toContain(String(value));
    expect(Object.keys(RECORDED.about)).toEqual(
      expect.arrayContaining(["processor", "cores", "memory", "Chromium", "Node", "heed", "date"]),
    );
  });

  test("has a row for each claim with its figure, and says which were not measured", () => {
    const rows = claimsOf(RECORDED, DOCUMENTS);
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter(({ measured }) => measured !== null).length).toBeGreaterThan(10);
    for (const { measured } of rows) expect(measured ?? "").not.toMatch(/NaN|undefined|Infinity|null/);
    expect(page.match(/not measured in this run/g)?.length).toBe(
      rows.filter(({ measured }) => measured === null).length,
    );
  });

  test("of a run that found nothing says so, and has the sizes all the same", () => {
    const empty = reportPage(NOTHING, DOCUMENTS);
    expect(empty).toContain("This run did not look at it.");
    expect(empty).toContain("Downloads");
    expect(empty).not.toMatch(/NaN|undefined/);
  });
});

describe("a claim", () => {
  const measuredOf = (found: Found, words: string): string | null | undefined =>
    claimsOf(found, DOCUMENTS).find(({ claimed, what }) => claimed.includes(words) || what.includes(words))?.measured;

  test("is the figure of the run: what a first call loads, by hand", () => {
    const sizes = {
      ...RECORDED.sizes,
      index: 20_000,
      runners: { shared: 1000, unshared: 4000 },
      variants: { a: { chunk: 47_000 }, "a-threads": { chunk: 49_500 } },
    };
    expect(measuredOf({ ...RECORDED, sizes }, "at most 75 kB")).toBe("71.0 kB");
  });

  test("of a table of errors is its largest", () => {
    const numerics = { sizes: "| a | 1.0e-8 | 3.5e-7 |\n| b | 2.0e-9 | 1.0e-7 |" };
    expect(measuredOf({ ...RECORDED, numerics }, "the table “sizes”")).toBe("3.5e-7");
  });

  test("of what a bench in Node printed is in its lines", () => {
    const programs = {
      caches: "relaxed, 1 threads: ms\n32/32 heads, 4096 keys, dim 128: 9.31 ms, 1.90, 3.60",
      structure: "causal by maskMod      12.10 ms, x 1.071\nhalf of the pairs, a window      6.00 ms, x 0.534",
    };
    expect(measuredOf({ ...RECORDED, programs }, "32 : 32, 4096, 128")).toBe("1.90 x, 3.60 x");
    expect(measuredOf({ ...RECORDED, programs }, "causal 1.07")).toBe("1.07");
    expect(measuredOf({ ...RECORDED, programs }, "0.53 to 0.55")).toBe("0.53");
    expect(reportPage({ ...RECORDED, programs }, DOCUMENTS)).toContain("<pre>relaxed, 1 threads: ms\n32/32");
  });

  test("of a token is the plain reading of its weights over its time", () => {
    const results = [
      { name: "read@1", ms: null, rate: 20e9, samples: [], error: null, failure: null },
      { name: "dist all", ms: 50, rate: null, samples: [], error: null, failure: null },
    ];
    const study = { shape: "llama-token", page: "isolated", threads: 1, weightBytes: 500e6, longestTasks: {}, results };
    const models = { date: "", browser: "", machine: "", studies: [study], loaded: [] } as unknown as Found["models"];
    expect(measuredOf({ ...RECORDED, models }, "a token, Llama-shaped")).toBe("50%, ");
  });

  test("whose words the document lost is an error", () => {
    const changed = { ...DOCUMENTS, "README.md": text("README.md").replace("at most 75 kB", "at most 80 kB") };
    expect(() => claimsOf(RECORDED, changed)).toThrow("README.md no longer says: The first call loads at most 75 kB");
  });

  test.each([
    ["(1, 8, 1024, 64)", "8x1024x64"],
    ["(1, 8, 1024 : 77, 64)", "8x1024:77x64"],
    ["(1, 4, 4096, 64) causal", "4x4096x64c"],
    ["(1, 8, 1 : 4096, 64)", "8x1:4096x64"],
  ])("of the shape %s is measured as %s", (label, name) => expect(shapeNamed(label)).toBe(name));
});

test("bars are as long as their values, and what is missing has none", () => {
  const drawn = bars(
    "t",
    ["a", "b"],
    [
      { name: "x", values: [2, 1] },
      { name: "<y>", values: [4, null] },
    ],
    String,
  );
  const widths = Array.from(drawn.matchAll(/<rect class="s\d" x="250" y="[\d.]+" width="([\d.]+)"/g), ([, width]) =>
    Number(width),
  ).filter((width) => width !== 10);
  expect(widths).toEqual([200, 100, 400]);
  expect(drawn).toContain("&lt;y&gt;");
});
