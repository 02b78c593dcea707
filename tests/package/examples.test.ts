// The pages of examples/, with the packed package: as they are where they need no bundler, and built by Vite.

import type { Page } from "playwright";
import { afterAll, expect, test } from "vitest";
import { Consumer } from "./support/consumer.js";
import { ISOLATION, serve } from "./support/server.js";
import { openChromium } from "./support/visit.js";

const browser = await openChromium();
afterAll(() => browser.close());

/** What a page shows; it must not complain of anything. `built`: the folder that is served. */
async function look<T>(consumer: Consumer, built: string, read: (page: Page) => Promise<T>): Promise<T> {
  const site = await serve({ "/": consumer.path(built) }, ISOLATION);
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("pageerror", ({ message }) => complaints.push(message));
  try {
    await page.goto(site.address);
    return await read(page);
  } catch (error) {
    throw new Error(`${String(error)}\n${complaints.join("\n")}`);
  } finally {
    await page.close();
    site.close();
    expect(complaints).toEqual([]);
  }
}

const outputOf = async (page: Page): Promise<string | null> => {
  await page.waitForFunction(() => document.querySelector("output")?.textContent !== "…");
  return page.textContent("output");
};

test.each([
  ["page", "a page learns to count", "6"],
  // Of 1 to 1000.
  ["worker", "a worker computes a mean by attention", "500.5"],
])("examples/%s: %s", async (folder, _what, shown) => {
  const consumer = await Consumer.make(`example-${folder}`, `../../../examples/${folder}`);
  expect(await look(consumer, ".", outputOf)).toBe(shown);
});

test("examples/react: a component shows weights, and those of another sentence", async () => {
  const consumer = await Consumer.make("example-react", "../../../examples/react");
  await consumer.tool("vite/bin/vite.js", "build");
  const rows = async (page: Page, count: number): Promise<number[][]> => {
    await page.waitForFunction((cells) => {
      const shown = [...document.querySelectorAll("td")].map(({ textContent }) => textContent);
      return shown.length === cells && shown.every((text) => text !== "");
    }, count ** 2);
    return page.$$eval("tr", (all) =>
      all.map((row) => [...row.querySelectorAll("td")].map(({ textContent }) => Number(textContent))),
    );
  };
  const [first, second] = await look(consumer, "dist", async (page) => {
    const before = await rows(page, 3);
    await page.fill("input", "abc def");
    return [before, await rows(page, 2)];
  });
  for (const row of [...(first ?? []), ...(second ?? [])]) {
    expect(row.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 1);
  }
  // Three letters in common against none: exp(3 / sqrt(26)) to 1.
  const own = 1 / (1 + Math.exp(-3 / Math.sqrt(26)));
  expect(second?.[0]?.[0]).toBeCloseTo(own, 2);
  expect(second?.[0]?.[1]).toBeCloseTo(1 - own, 2);
});
