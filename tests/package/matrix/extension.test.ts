// What docs/hosting.md says of extensions of browsers, tried in Chromium. Its headless shell loads none: it takes the whole browser.

import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Worker } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findWholeChromium } from "../../../scripts/toolchain/browsers.js";
import type { Consumer } from "../support/consumer.js";
import { codeUnder } from "../support/guide.js";
import type { Outcome } from "../support/outcome.js";
import { expectRight } from "../support/outcome.js";
import { ONE_SCRIPT, oneScript } from "../support/service-worker.js";
import { expectWorker, visit } from "../support/visit.js";

const search = await findWholeChromium();
if (!("found" in search)) console.warn(`Extensions are not tested: ${search.problem}`);

const manifest = JSON.parse(codeUnder("Extensions"));
const { cross_origin_embedder_policy: _, cross_origin_opener_policy: __, ...plain } = manifest;

interface Installed {
  readonly context: BrowserContext;
  readonly background: Worker;
}

/** Starts a browser with the extension in a folder. */
async function install(executablePath: string, folder: string, profile: string): Promise<Installed> {
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    // Playwright's own way to be headless is the shell's.
    headless: false,
    args: ["--headless=new", ...sandbox, `--disable-extensions-except=${folder}`, `--load-extension=${folder}`],
  });
  const [background = await context.waitForEvent("serviceworker")] = context.serviceWorkers();
  return { context, background };
}

describe.skipIf(!("found" in search))("an extension", () => {
  let consumer: Consumer;
  let profiles: string;
  beforeAll(async () => {
    const how = ONE_SCRIPT["esbuild --bundle --format=esm"];
    if (how === undefined) throw new Error("nobody says how the background is made");
    consumer = await oneScript("extension", how);
    await consumer.useEntry("main.js", "heed/assets");
    const page = ["main.js", "--bundle", "--splitting", "--format=esm", "--outdir=dist"];
    await consumer.tool("esbuild/bin/esbuild", ...page);
    await consumer.add("page/index.html", "dist/index.html");
    profiles = await mkdtemp(join(tmpdir(), "heed-extension-"));
  });
  afterAll(() => rm(profiles, { recursive: true, force: true, maxRetries: 10 }));

  test.each([
    ["the guide's", manifest, "shared-memory"],
    ["one without isolation", plain, "private-memory"],
  ])(
    "with a manifest that is %s computes in the background, and with workers on its pages",
    async (name, its, kind) => {
      const folder = consumer.path(name.replaceAll(/\W+/g, "-"));
      await mkdir(folder);
      await cp(consumer.path("dist"), folder, { recursive: true });
      await writeFile(join(folder, "manifest.json"), JSON.stringify(its));
      if (!("found" in search)) return;
      const { context, background } = await install(search.found.path, folder, join(profiles, name));
      try {
        await expect.poll(() => background.evaluate(() => "outcome" in globalThis)).toBe(true);
        const found = await background.evaluate(() => Reflect.get(globalThis, "outcome")() as Promise<Outcome>);
        expectRight(found);
        expect(found).toMatchObject({ worker: null, variant: "relaxed" });
        expectWorker(await visit(context, `chrome-extension://${new URL(background.url()).host}/index.html`), kind);
      } finally {
        await context.close();
      }
    },
  );
});
