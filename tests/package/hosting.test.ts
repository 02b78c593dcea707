// What docs/hosting.md says of pages without a bundler, tried: headers, policies, frames, other origins, a service worker.

import { readFileSync } from "node:fs";
import { cp, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Browser, Frame, Page } from "playwright";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Consumer } from "./support/consumer.js";
import { expectRight } from "./support/outcome.js";
import { ISOLATION, type Site, STRICT, serve } from "./support/server.js";
import { openChromium, type Visit, visit } from "./support/visit.js";

const guide = readFileSync(fileURLToPath(new URL("../../docs/hosting.md", import.meta.url)), "utf8");

let browser: Browser;
let consumer: Consumer;
let sites: Site[] = [];
beforeAll(async () => {
  browser = await openChromium();
  consumer = await Consumer.make("static", "static");
  await consumer.add("page/compute.js", "compute.js");
  await consumer.add("page/main.js", "main.js");
});
afterAll(() => browser?.close());
afterEach(() => {
  for (const site of sites) site.close();
  sites = [];
});

type Headers = Readonly<Record<string, string>>;

/** The pages, and the package's files under /heed/. */
async function host(headers: Headers = {}): Promise<Site> {
  const site = await serve({ "/": consumer.folder, "/heed/": consumer.path("node_modules/heed/dist") }, headers);
  sites.push(site);
  return site;
}

const page = (site: Site, query: Readonly<Record<string, string>> = {}): string =>
  `${site.address}?${new URLSearchParams(query)}`;

/** The first block of code after a heading of the guide. */
function blockUnder(heading: string): string {
  const [, text = ""] = guide.split(`## ${heading}\n`);
  const [, code] = /^```\w+\n(.*?)^```$/ms.exec(text) ?? [];
  if (code === undefined) throw new Error(`docs/hosting.md has no code under ${heading}`);
  return code;
}

function expectWorker(found: Visit, worker: string | null): void {
  expectRight(found);
  expect({ worker: found.worker, reasons: found.reasons }).toMatchObject({ worker });
}

describe("with an import map", () => {
  test.each([
    ["isolated", ISOLATION, "shared-memory"],
    ["not isolated", {}, "private-memory"],
  ])("an %s page computes, and loads one variant", async (_name, headers, worker) => {
    const found = await visit(browser, `${(await host(headers)).address}importmap.html`);
    expectWorker(found, worker);
    expect(new Set(found.requests.filter((url) => url.includes("/heed/wasm-"))).size).toBe(1);
  });

  test("the map is the guide's", async () => {
    const [, inGuide] = /<script type="importmap">(.*?)<\/script>/s.exec(blockUnder("Without a bundler")) ?? [];
    const [, onPage] =
      /<script type="importmap">(.*?)<\/script>/s.exec(readFileSync(consumer.path("importmap.html"), "utf8")) ?? [];
    expect(JSON.parse(onPage ?? "")).toEqual(JSON.parse(inGuide ?? ""));
  });
});

test.each([
  ["heed", "/heed/index.js", ISOLATION],
  ["heed", "/heed/index.js", {}],
  ["heed/assets", "/heed/assets.js", ISOLATION],
  ["heed/assets", "/heed/assets.js", {}],
])("a first visit with %s (%s, %o) transfers at most 75 kB in all", async (_entry, module, headers) => {
  // The page of these tests makes two engines: what the second asks for again is in the browser's cache.
  const site = await host({ ...headers, "Cache-Control": "max-age=600" });
  const sizes: number[] = [];
  const context = await browser.newContext();
  const opened = await context.newPage();
  const measured: Promise<unknown>[] = [];
  opened.on("requestfinished", (request) => {
    if (!request.url().includes("/heed/") || request.url().endsWith("reference.js")) return;
    measured.push(request.sizes().then(({ responseBodySize }) => sizes.push(responseBodySize)));
  });
  await opened.goto(page(site, { module }));
  await opened.waitForFunction(() => "outcome" in globalThis);
  await Promise.all(measured);
  await context.close();
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total).toBeLessThanOrEqual(75_000);
  // All of it was seen: no variant is smaller.
  expect(total).toBeGreaterThan(40_000);
});

describe("isolation", () => {
  test.each([
    ["both headers", ISOLATION, "shared-memory"],
    ["credentialless", { ...ISOLATION, "Cross-Origin-Embedder-Policy": "credentialless" }, "shared-memory"],
    ["no header", {}, "private-memory"],
    ["one of the two", { "Cross-Origin-Opener-Policy": "same-origin" }, "private-memory"],
  ])("%s", async (_name, headers, worker) => {
    expectWorker(await visit(browser, page(await host(headers))), worker);
  });

  test("a service worker of ten lines brings it to a host that sends no headers", async () => {
    await writeFile(consumer.path("isolate.js"), blockUnder("Isolation without headers"));
    await writeFile(
      consumer.path("isolated.html"),
      `<!doctype html><title>isolated</title><script>${blockUnder("The page of that service worker")}</script>
      <script type="module" src="./static.js"></script>`,
    );
    const site = await host();
    const reloaded = async (opened: Page): Promise<Frame> => {
      await opened.waitForFunction(() => globalThis.crossOriginIsolated, undefined, { timeout: 15_000 });
      return opened.mainFrame();
    };
    expectWorker(await visit(browser, `${site.address}isolated.html`, reloaded), "shared-memory");
  });
});

describe("a policy", () => {
  const [HEED, ASSETS] = ["/heed/index.js", "/heed/assets.js"];

  test.each([
    ["strict, blob workers allowed", `${STRICT}; worker-src blob:`, HEED, {}, "private-memory"],
    ["strict, blob workers allowed, isolated", `${STRICT}; worker-src blob:`, HEED, ISOLATION, "shared-memory"],
    ["strict, without a word of workers", STRICT, HEED, {}, null],
    ["strict, no workers at all", `${STRICT}; worker-src 'none'`, HEED, {}, null],
    ["strict, without a word of workers", STRICT, ASSETS, {}, "private-memory"],
    ["strict, without a word of workers, isolated", STRICT, ASSETS, ISOLATION, "shared-memory"],
    ["strict, no workers at all", `${STRICT}; worker-src 'none'`, ASSETS, {}, null],
    ["strict, blob workers allowed", `${STRICT}; worker-src blob:`, ASSETS, {}, null],
    ["with trusted types", `${STRICT}; require-trusted-types-for 'script'`, ASSETS, {}, null],
    ["with trusted types", `${STRICT}; worker-src blob:; require-trusted-types-for 'script'`, HEED, {}, null],
  ])("%s (%s) lets %s compute", async (_name, policy, module, headers, worker) => {
    const site = await host({ ...headers, "Content-Security-Policy": policy });
    expectWorker(await visit(browser, page(site, { module })), worker);
  });

  test.each([
    ["that forbids WebAssembly", "default-src 'self'", HEED, /^load: createHeed: .*(?:unsafe-eval|wasm)/],
    ["that forbids to fetch", `${STRICT}; connect-src 'none'`, ASSETS, /^load: createHeed: .*cannot fetch/],
  ])("%s is an error that says so", async (_name, policy, module, message) => {
    const site = await host({ "Content-Security-Policy": policy });
    expect((await visit(browser, page(site, { module }))).failure).toMatch(message);
  });
});

describe("overrides", () => {
  test.each([
    ["url", "private-memory"],
    ["binary", "private-memory"],
    ["module", "private-memory"],
    ["workerUrl", "shared-memory"],
    ["workerFactory", "shared-memory"],
  ])("%s", async (override, worker) => {
    const found = await visit(browser, page(await host(ISOLATION), { override }));
    expectWorker(found, worker);
    // Each is a file of the host's: the inlined part that it stands for is not used.
    const hosted = new Set(
      found.requests.filter((url) => url.includes("/heed/assets/")).map((url) => new URL(url).pathname),
    );
    expect([...hosted]).toEqual([`/heed/assets/${override.startsWith("worker") ? "worker.js" : "wasm-simd.wasm"}`]);
  });
});

describe("in a frame of another origin", () => {
  const framed = async (opened: Page): Promise<Frame> => {
    await opened.waitForFunction(() => document.querySelector("iframe") !== null);
    const [frame] = opened.mainFrame().childFrames();
    if (frame === undefined) throw new Error("there is no frame");
    return frame;
  };

  async function visitFramed(outer: Headers, inner: Headers, attributes: string): Promise<Visit> {
    const { elsewhere } = await host(inner);
    await writeFile(
      consumer.path("frame.html"),
      `<!doctype html><title>frame</title><iframe ${attributes} src="${elsewhere}"></iframe>`,
    );
    return visit(browser, `${(await host(outer)).address}frame.html`, framed);
  }

  const EMBEDDABLE = { ...ISOLATION, "Cross-Origin-Resource-Policy": "cross-origin" };

  test("computes without headers", async () => {
    expectWorker(await visitFramed({}, {}, ""), "private-memory");
  });

  test("computes on shared memory where both are isolated and the frame is allowed to", async () => {
    expectWorker(await visitFramed(ISOLATION, EMBEDDABLE, 'allow="cross-origin-isolated"'), "shared-memory");
  });

  test("computes on private memory where it is not allowed to", async () => {
    expectWorker(await visitFramed(ISOLATION, EMBEDDABLE, ""), "private-memory");
  });
});

describe("from another origin, as from a CDN", () => {
  const CDN = { "Access-Control-Allow-Origin": "*" };

  test.each([
    ["heed", "index.js", "none", {}, "private-memory"],
    ["heed", "index.js", "none", ISOLATION, "shared-memory"],
    ["heed/assets", "assets.js", "none", {}, null],
    ["heed/assets", "assets.js", "workerUrl", {}, "private-memory"],
    ["heed/assets", "assets.js", "foreignWorker", ISOLATION, "shared-memory"],
  ])("%s (%s, override %s, %o)", async (_entry, file, override, headers, worker) => {
    const { elsewhere } = await host(CDN);
    const site = await host(headers);
    const found = await visit(browser, page(site, { module: `${elsewhere}heed/${file}`, override }));
    expectWorker(found, worker);
    if (worker === null) expect(found.reasons.join()).toMatch(/worker was refused/);
  });
});

test("a bundle that left the files behind says which it looked for, and runs when it has them", async () => {
  await cp(consumer.path("node_modules/heed/dist"), consumer.path("bundle"), {
    recursive: true,
    filter: (path) => !/dist\/assets(?:\/|$)/.test(path),
  });
  const site = await host();
  const module = "/bundle/assets.js";
  expect((await visit(browser, page(site, { module }))).failure).toMatch(
    /\/bundle\/assets\/wasm-relaxed\.wasm: HTTP status 404/,
  );
  await cp(consumer.path("node_modules/heed/dist/assets"), consumer.path("bundle/assets"), { recursive: true });
  expectWorker(await visit(browser, page(site, { module })), "private-memory");
});
