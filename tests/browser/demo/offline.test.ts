// The site kept for reading without a network: asked for, answered from, renewed with the next build, and forgotten.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { PAGES } from "../../../demo/frame.js";
import { axeFindings, demoInChromium } from "./chromium.js";
import { kernelAnswered } from "./page.js";

const { answered, open, site } = demoInChromium();

const KEEP = /^Keep for offline reading \(\d\.\d MB\)$/;

/** A browser looks for a new build when it has nothing else to do. */
const WHILE = { timeout: 90_000 };

const line = (page: Page) => page.locator("#offline");
const said = (page: Page) => line(page).getByRole("status");

async function keep(page: Page): Promise<void> {
  await line(page).getByRole("button", { name: KEEP }).click();
  await said(page).filter({ hasText: "Kept for offline reading." }).waitFor();
}

async function goOffline(page: Page): Promise<void> {
  await page.context().setOffline(true);
  const [worker] = page.context().serviceWorkers();
  // What was not kept does not come, neither to the page nor to its worker, which loses the network a moment later.
  await expect
    .poll(() => worker?.evaluate(() => fetch("elsewhere").then(String, () => "unreachable")))
    .toBe("unreachable");
}

/** Two matrices of zeros. */
function safetensors(): Buffer {
  const tensor = (from: number) => ({ dtype: "F32", shape: [2, 2], data_offsets: [from, from + 16] });
  const header = Buffer.from(JSON.stringify({ q: tensor(0), k: tensor(16) }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, Buffer.alloc(32)]);
}

const caches = (page: Page): Promise<string[]> => page.evaluate(() => window.caches.keys());
const registrations = (page: Page): Promise<number> =>
  page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length);

/** Whether the worker of the next build has all its files and answers. */
function isRenewed(page: Page): Promise<boolean> {
  return page.evaluate(async () => {
    const { installing, waiting, active } = (await navigator.serviceWorker.getRegistration()) ?? {};
    const names = await window.caches.keys();
    const isAlone = !installing && !waiting && active?.state === "activated";
    return isAlone && names.some((name) => name.endsWith(" next"));
  });
}

describe.each(["isolated", "plain"] as const)("served %s", (kind) => {
  test("every room opens without a network, and loads what it asks for late", async () => {
    const page = await open("matrix-walk.html", { alone: true }, kind);
    expect(await registrations(page)).toBe(0);
    expect(await caches(page)).toEqual([]);
    await keep(page);
    await goOffline(page);
    for (const { file } of PAGES) {
      await page.goto(site()[kind] + file);
      await kernelAnswered(page);
      expect(await page.evaluate("crossOriginIsolated")).toBe(kind === "isolated");
      expect(await said(page).textContent()).toBe("Kept for offline reading.");
    }
    // The folder itself.
    await page.goto(site()[kind]);
    await page.locator("button.asked-word").first().waitFor();
    // What reads such files is loaded when the first one comes.
    await page.goto(`${site()[kind]}bring-your-own.html`);
    await kernelAnswered(page);
    await page.locator("#arrays").setInputFiles({ name: "two.safetensors", mimeType: "", buffer: safetensors() });
    await page
      .locator(".bringing .field-message", { hasText: "Taken: 1 layer, 1 head, 2 queries, 2 keys." })
      .waitFor({ state: "attached" });
  });
});

test("it is forgotten by the same control, and can be kept again", async () => {
  const page = await open("scale.html", { alone: true });
  expect(await axeFindings(page, { within: "#offline" })).toEqual([]);
  await keep(page);
  expect(await axeFindings(page, { within: "#offline" })).toEqual([]);
  await line(page).getByRole("button", { name: "Forget" }).click();
  await line(page).getByRole("button", { name: KEEP }).waitFor();
  expect(await caches(page)).toEqual([]);
  expect(await registrations(page)).toBe(0);
  await keep(page);
  await goOffline(page);
  await page.goto(`${site().isolated}masks.html`);
  await kernelAnswered(page);
});

test("it can be stopped, which leaves nothing, and a file that fails leaves nothing either", async () => {
  const page = await open("scale.html", { alone: true });
  await page.context().route("**/what-else.html", (route) => route.abort());
  await line(page).getByRole("button", { name: KEEP }).click();
  await said(page).filter({ hasText: "It broke off" }).waitFor();
  expect(await caches(page)).toEqual([]);
  await page.context().unroute("**/what-else.html");
  // Slow enough to be stopped.
  await page.context().route("**/scale.html", () => {});
  await line(page).getByRole("button", { name: KEEP }).click();
  await said(page).filter({ hasText: "Keeping" }).waitFor();
  await line(page).getByRole("button", { name: "Stop" }).click();
  await said(page).filter({ hasText: "Stopped." }).waitFor();
  await expect.poll(() => caches(page)).toEqual([]);
});

test("a new build takes its place", async () => {
  const page = await open("heads.html", { alone: true });
  await keep(page);
  const [worker, room] = ["offline.js", "heads.html"].map((file) => join(site().folder, file));
  if (worker === undefined || room === undefined) throw new Error("no such files");
  const before = [worker, room].map((path) => [path, readFileSync(path, "utf8")] as const);
  try {
    writeFileSync(worker, readFileSync(worker, "utf8").replace(/const BUILD = "\w+"/, 'const BUILD = "next"'));
    writeFileSync(room, readFileSync(room, "utf8").replace(/<title>.*<\/title>/, "<title>The next build</title>"));
    // A visit asks whether there is a new one.
    await page.reload();
    await expect.poll(() => isRenewed(page), WHILE).toBe(true);
    await page.reload();
    expect(await page.title()).toBe("The next build");
    await goOffline(page);
    await page.reload();
    await kernelAnswered(page);
    expect(await page.title()).toBe("The next build");
  } finally {
    for (const [path, text] of before) writeFileSync(path, text);
  }
});

test("nothing is offered where there are no service workers", async () => {
  const page = await answered("scale.html", {
    before: () => Reflect.deleteProperty(Navigator.prototype, "serviceWorker"),
  });
  expect(await line(page).isVisible()).toBe(false);
});
