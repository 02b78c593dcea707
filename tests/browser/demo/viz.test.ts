// heed/viz as a stranger uses it: the built file on a page of its own, under a policy that allows neither eval nor inline styles.

import { readFileSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { axeFindings } from "./chromium.js";
import { readNumber } from "./page.js";

const ORIGIN = "http://views.test/";
const BUILT = new URL("../../../dist/viz.js", import.meta.url);

const HTML = `<!doctype html><html lang="en"><head><title>Views</title></head><body><main><h1>Views</h1>
<heed-heads></heed-heads><heed-matrix label="A"></heed-matrix><heed-flow></heed-flow>
<button>after</button></main><script type="module" src="page.js"></script></body></html>`;

/** Two heads of three words; each row sums to 1. */
const WEIGHTS = [0.5, 0.25, 0.25, 0, 1, 0, 0.125, 0.125, 0.75, 1, 0, 0, 0.5, 0.5, 0, 0.25, 0.25, 0.5];

const SCRIPT = `import { define } from "./viz.js";
define();
define();
const [heads, matrix, flow] = ["heads", "matrix", "flow"].map((name) => document.querySelector("heed-" + name));
const weights = { data: Float32Array.of(${WEIGHTS.join(", ")}), shape: [1, 2, 3, 3] };
window.told = [];
for (const view of [heads, matrix, flow]) {
  view.weights = weights;
  view.addEventListener("select", (event) => window.told.push({ from: view.localName, ...event.detail }));
}
matrix.rowLabels = matrix.columnLabels = flow.words = ["the", "cat", "sat"];
flow.asker = 2;
heads.addEventListener("select", ({ detail }) => { matrix.head = flow.head = detail.head; });
window.ready = true;`;

const CANVAS = ":root { color-scheme: light dark; } body { background: Canvas; color: CanvasText; }";

let browser: Browser | undefined;

beforeAll(async () => {
  const executablePath = inject("chromiumPath") ?? process.env["CHROME_PATH"] ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}, 120_000);
afterAll(() => browser?.close());

async function open(style = "", colorScheme: "light" | "dark" = "light"): Promise<Page> {
  if (browser === undefined) throw new Error("asked for before the tests began");
  const page = await browser.newPage({ reducedMotion: "reduce", colorScheme });
  const files: Readonly<Record<string, readonly [string, string]>> = {
    "": ["text/html", HTML.replace("<title>", `<link rel="stylesheet" href="page.css" /><title>`)],
    "page.css": ["text/css", style],
    "page.js": ["text/javascript", SCRIPT],
    "viz.js": ["text/javascript", readFileSync(BUILT, "utf8")],
  };
  await page.route(`${ORIGIN}**`, (route) => {
    const [contentType, body] = files[route.request().url().slice(ORIGIN.length)] ?? ["text/plain", ""];
    return route.fulfill({ contentType, body, headers: { "Content-Security-Policy": "default-src 'self'" } });
  });
  const complaints: string[] = [];
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("favicon")) complaints.push(message.text());
  });
  await page.goto(ORIGIN);
  await page.waitForFunction("window.ready === true");
  expect(complaints).toEqual([]);
  return page;
}

const told = (page: Page): Promise<readonly Record<string, unknown>[]> => page.evaluate("window.told");
const cells = async (page: Page): Promise<number[]> =>
  (await page.locator("heed-matrix td[data-row]").allTextContents()).map(readNumber);

describe("<heed-matrix>", () => {
  test("shows the weights of a head between the words", async () => {
    const page = await open();
    expect(await cells(page)).toEqual(WEIGHTS.slice(0, 9).map((weight) => Number(weight.toFixed(2))));
    expect(await page.locator("heed-matrix th[scope=row]").allTextContents()).toEqual(["the", "cat", "sat"]);
    expect(await page.getByRole("grid", { name: "A, 3 by 3" }).count()).toBe(1);
  });

  test("tells what is selected, by pointer and by keyboard", async () => {
    const page = await open();
    await page.locator('heed-matrix td[data-row="2"][data-col="2"]').click();
    await page.keyboard.press("ArrowLeft");
    const selections = (await told(page)).map(({ row, col, value }) => [row, col, value]);
    expect(selections).toContainEqual([2, 2, 0.75]);
    expect(selections.at(-1)).toEqual([2, 1, 0.125]);
  });

  test("refuses weights that are none, by name", async () => {
    const page = await open();
    const refused = await page.evaluate(() => {
      const matrix = document.querySelector("heed-matrix");
      return [{ data: [1], shape: [2, 2] }, { data: [1], shape: [1] }, null].map((weights) => {
        try {
          Reflect.set(Object(matrix), "weights", weights);
          return "taken";
        } catch (error) {
          return String(error);
        }
      });
    });
    expect(refused[0]).toBe("HeedError: <heed-matrix>.weights needs 4 numbers for the shape [2, 2], got 1 numbers");
    expect(refused[1]).toMatch(/^HeedError: .*two axes or more, got \[1\]$/);
    expect(refused[2]).toMatch(/^HeedError: .*two axes or more, got undefined$/);
  });

  test("takes its colours from the page, and has its own where there are none", async () => {
    const ground = (page: Page): Promise<string> =>
      page
        .locator('heed-matrix td[data-row="1"][data-col="1"]')
        .evaluate((cell) => getComputedStyle(cell).backgroundColor);
    const own = await ground(await open());
    const themed = await ground(await open(":root { --heed-share: rgb(10 120 30); }"));
    expect(own).not.toBe("rgba(0, 0, 0, 0)");
    expect(themed).not.toBe(own);
  });
});

test("<heed-heads> has a picture for each head, and chooses one for the others to show", async () => {
  const page = await open();
  const heads = page.locator("heed-heads button");
  expect(await heads.count()).toBe(2);
  // Row by row to oneself: 0.5, 1, 0.75.
  expect(await heads.first().getAttribute("aria-label")).toContain("Head 1: 75\u00a0% to oneself");
  await heads.nth(1).press("Enter");
  expect(await heads.nth(1).getAttribute("aria-pressed")).toBe("true");
  expect(await told(page)).toEqual([{ from: "heed-heads", head: 1 }]);
  expect(await cells(page)).toEqual(WEIGHTS.slice(9).map((weight) => Number(weight.toFixed(2))));
  const alpha = await heads
    .first()
    .locator("canvas")
    .evaluate((canvas) => {
      const drawn = canvas instanceof HTMLCanvasElement ? canvas.getContext("2d") : null;
      return Array.from(drawn?.getImageData(0, 0, 3, 3).data ?? []).filter((_, index) => index % 4 === 3);
    });
  expect(alpha).toEqual(WEIGHTS.slice(0, 9).map((weight) => Math.round(255 * Math.sqrt(weight))));
});

test("<heed-flow> draws the shares of the word that asks, and lets another be asked", async () => {
  const page = await open();
  const words = page.locator("heed-flow .flow-askers button");
  expect(await words.allTextContents()).toEqual(["the", "cat", "sat"]);
  expect(await words.nth(2).getAttribute("aria-pressed")).toBe("true");
  // Width 0.8 + 15 × share, as drawn: 0.125, 0.125, 0.75.
  const widths = (): Promise<string[]> =>
    page
      .locator("heed-flow .flow-bold path")
      .evaluateAll((paths) => paths.map((path) => path.getAttribute("stroke-width") ?? ""));
  await expect.poll(widths).toEqual(["2.67", "2.67", "12.05"]);
  await words.nth(1).click();
  await expect.poll(widths).toEqual(["0.80", "15.80", "0.80"]);
  expect((await told(page)).at(-1)).toEqual({ from: "heed-flow", word: 1 });
});

describe.each(["light", "dark"] as const)("in a %s theme", (colorScheme) => {
  test.each(["share", "signed"])("axe has nothing to object to, at any level of colour: %s", async (tone) => {
    const page = await open(CANVAS, colorScheme);
    await page.evaluate((as) => {
      const matrix = document.querySelector("heed-matrix");
      matrix?.setAttribute("tone", as);
      const size = 16;
      const levels = Float32Array.from({ length: size * size }, (_, index) => (index + 1) / (size * size));
      const data = as === "share" ? levels : levels.map((level, index) => (index % 2 === 0 ? level : -level));
      Reflect.set(Object(matrix), "weights", { data, shape: [size, size] });
    }, tone);
    expect(await axeFindings(page)).toEqual([]);
  });
});

test("on a server it can be imported, and registering does nothing", async () => {
  const { define } = await import(BUILT.href);
  expect(() => define()).not.toThrow();
});
