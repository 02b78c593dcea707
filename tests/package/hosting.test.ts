// What docs/hosting.md says of pages without a bundler and of other origins, tried. Headers and policies have files of their own.

import { readdirSync, readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { brotliCompressSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { codeUnder, headingsWithCode, paragraphWith, quotedIn } from "./support/guide.js";
import { ISOLATION } from "./support/server.js";
import { pageOf, StaticHost } from "./support/static-host.js";
import { expectWorker, openChromium, visit } from "./support/visit.js";

const browser = await openChromium();
const host = await StaticHost.make("static");
afterAll(() => browser.close());
afterEach(() => host.close());

const installed = (...path: string[]): string => host.consumer.path("node_modules/heed", ...path);

test("no code of the guide is untried", () => {
  expect(headingsWithCode).toEqual([
    // matrix/extension.test.ts has it.
    "Extensions",
    // matrix/workerd.test.ts runs it.
    "Cloudflare Workers",
    "Without a bundler",
    "From a CDN",
    // isolation.test.ts runs them.
    "Isolation without headers",
    "The page of that service worker",
  ]);
});

describe("with an import map, the guide's", () => {
  const code = codeUnder("Without a bundler");
  beforeAll(() => host.addPage("importmap", code));

  test.each([
    ["isolated", ISOLATION, "shared-memory"],
    ["not isolated", {}, "private-memory"],
  ])("an %s page computes, and loads one variant", async (_name, headers, worker) => {
    const found = await visit(browser, `${(await host.serve(headers)).address}importmap.html`);
    expectWorker(found, worker);
    expect(new Set(found.requests.filter((url) => url.includes("/heed/wasm-"))).size).toBe(1);
  });

  test("README's page draws the shares of its weights", async () => {
    const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
    const page = /^```html\n(.*?)^```$/ms.exec(readme)?.[1];
    const [map] = /<script type="importmap">.*?<\/script>/s.exec(code) ?? [];
    // The words, and the widths of the arcs of the last, which is asked: 0.8 + 15 x share, to which they grow.
    const script = `
      import { leave } from "./compute.js";
      const all = (selector) => [...document.querySelectorAll("heed-flow " + selector)];
      const widths = () => all(".flow-bold path").map((path) => Number(path.getAttribute("stroke-width")));
      const sum = () => widths().reduce((total, width) => total + width, 0);
      const drawn = async () => {
        all(".flow-askers button").at(-1).click();
        while (sum() < 3 * 0.8 + 14.98) await new Promise(requestAnimationFrame);
        return { words: all(".flow-askers button").map((button) => button.textContent), widths: widths() };
      };
      leave(drawn());
    `;
    await host.addPage("readme", `${map}\n${page}\n<script type="module">${script}</script>`);
    const { address } = await host.serve();
    const found = await visit<{ words: string[]; widths: number[] }>(browser, `${address}readme.html`);
    expect(found.complaints).toEqual([]);
    expect(found.words).toEqual(["the", "cat", "sat"]);
    expect(found.widths.map((width) => width.toFixed(1))).toEqual(["2.3", "11.3", "3.8"]);
  });

  test("every entry with code inside is there", async () => {
    const [, map = ""] = /<script type="importmap">(.*?)<\/script>/s.exec(code) ?? [];
    const names = Object.keys(JSON.parse(map).imports);
    const { exports } = JSON.parse(readFileSync(installed("package.json"), "utf8"));
    const entries = Object.keys(exports).filter((path) => !/assets|package\.json/.test(path));
    expect(names.sort()).toEqual(entries.map((path) => path.replace(".", "heed")).sort());
    const imports = names.map((name) => `import("${name}")`);
    const script = `
      import { leave } from "./compute.js";
      leave(Promise.all([${imports}]).then((entries) => ({ sizes: entries.map((entry) => Object.keys(entry).length) })));
    `;
    await host.addPage("entries", `<script type="importmap">${map}</script><script type="module">${script}</script>`);
    const { address } = await host.serve();
    const found = await visit<{ sizes: number[] }>(browser, `${address}entries.html`);
    expect(found).toMatchObject({ sizes: names.map(() => expect.any(Number)) });
    expect(Math.min(...found.sizes)).toBeGreaterThan(0);
  });
});

test.each([
  ["heed", "/heed/index.js", ISOLATION],
  ["heed", "/heed/index.js", {}],
  ["heed/assets", "/heed/assets.js", ISOLATION],
  ["heed/assets", "/heed/assets.js", {}],
])("a first visit with %s (%s, %o) transfers at most 75 kB in all", async (_entry, module, headers) => {
  // The page of these tests makes two engines: what the second asks for again is in the browser's cache.
  const site = await host.serve({ ...headers, "Cache-Control": "max-age=600" });
  const sizes: number[] = [];
  const context = await browser.newContext();
  const opened = await context.newPage();
  const measured: Promise<unknown>[] = [];
  opened.on("requestfinished", (request) => {
    if (!request.url().includes("/heed/") || request.url().endsWith("reference.js")) return;
    measured.push(request.sizes().then(({ responseBodySize }) => sizes.push(responseBodySize)));
  });
  await opened.goto(pageOf(site, { module }));
  await opened.waitForFunction(() => "outcome" in globalThis);
  await Promise.all(measured);
  await context.close();
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total).toBeLessThanOrEqual(75_000);
  // All of it was seen: no variant is smaller.
  expect(total).toBeGreaterThan(40_000);
});

test("brotli shrinks the text of the WebAssembly to three tenths at most", () => {
  const files = readdirSync(installed("dist")).filter((file) => /^wasm-(?:simd|relaxed)(?:-threads)?\.js$/.test(file));
  expect(files).toHaveLength(4);
  for (const file of files) {
    const text = readFileSync(installed("dist", file));
    expect(brotliCompressSync(text).length / text.length).toBeLessThanOrEqual(0.3);
  }
});

describe("types of files", () => {
  test.each(["application/wasm", "text/plain"])("the binaries may be %s", async (type) => {
    const site = await host.serve({}, { ".wasm": type });
    const found = await visit(browser, pageOf(site, { module: "/heed/assets.js" }));
    expectWorker(found, "private-memory");
    expect(found.requests.filter((url) => url.endsWith(".wasm"))).not.toEqual([]);
  });

  test("scripts of no JavaScript type are refused", async () => {
    const { elsewhere } = await host.serve({ "Access-Control-Allow-Origin": "*" }, { ".js": "text/plain" });
    const found = await visit(browser, pageOf(await host.serve(), { module: `${elsewhere}heed/index.js` }));
    expect(found.failure).toMatch(/dynamically imported module/);
  });
});

describe("overrides", () => {
  const entries = ["/heed/index.js", "/heed/assets.js"];

  test.each(
    entries.flatMap((module) => [
      ["url", module, "private-memory"],
      ["binary", module, "private-memory"],
      ["module", module, "private-memory"],
      ["workerUrl", module, "shared-memory"],
      ["workerFactory", module, "shared-memory"],
    ]),
  )("%s of %s", async (override, module, worker) => {
    const found = await visit(browser, pageOf(await host.serve(ISOLATION), { module, override }));
    expectWorker(found, worker);
    const paths = [...new Set(found.requests.map((url) => new URL(url).pathname))];
    const given = override.startsWith("worker") ? "worker.js" : "wasm-simd.wasm";
    expect(paths.filter((path) => path.startsWith("/copy/"))).toEqual([`/copy/${given}`]);
    // The package's own is not used in its place; that of another variant is the shared engine's, which is not told of overrides.
    const own = module === "/heed/index.js" ? /^\/heed\/assets\// : /^\/heed\/assets\/wasm-simd/;
    expect(paths.filter((path) => own.test(path))).toEqual([]);
  });

  test("a binary is attention's alone: everything else has one, by the guide's names", async () => {
    const [attention = "", full = ""] = quotedIn(paragraphWith(".wasm", "Overrides")).filter((name) =>
      name.endsWith(".wasm"),
    );
    await host.addPage("parts", '<script type="module" src="./parts.js"></script>');
    const { address } = await host.serve();
    const found = await visit<{ shapes: number[][] }>(browser, `${address}parts.html`);
    expect(found).toMatchObject({ shapes: [1, 2, 3, 4].map(() => [1, 4, 8]) });
    expect(found.requests.filter((url) => url.endsWith(".wasm"))).toEqual([
      attention.replace("heed/assets/", `${address}copy/`),
      `${address}${full}`,
    ]);
  });
});

describe("from another origin, as from a CDN", () => {
  const CDN = { "Access-Control-Allow-Origin": "*" };

  test.each([
    ["heed", "index.js", "none", {}, "private-memory"],
    ["heed", "index.js", "none", ISOLATION, "shared-memory"],
    ["heed/assets", "assets.js", "none", {}, null],
    ["heed/assets", "assets.js", "none", ISOLATION, null],
    ["heed/assets", "assets.js", "workerUrl", {}, "private-memory"],
    ["heed/assets", "assets.js", "workerUrl", ISOLATION, "shared-memory"],
  ])("%s (%s, override %s, %o)", async (_entry, file, override, headers, worker) => {
    const { elsewhere } = await host.serve(CDN);
    const site = await host.serve(headers);
    const found = await visit(browser, pageOf(site, { module: `${elsewhere}heed/${file}`, override }));
    expectWorker(found, worker);
    if (worker === null) expect(found.reasons.join()).toMatch(/worker was refused/);
  });

  test.each(["index.js", "assets.js"])("%s needs the CDN's leave", async (file) => {
    const { elsewhere } = await host.serve();
    const found = await visit(browser, pageOf(await host.serve(), { module: `${elsewhere}heed/${file}` }));
    expect(found.failure).toMatch(/dynamically imported module/);
  });

  test.each([
    ["not isolated", {}, "private-memory"],
    ["isolated", ISOLATION, "shared-memory"],
  ])("the guide's code brings a worker, on a page that is %s", async (_name, headers, worker) => {
    const context = await browser.newContext();
    // There is no such host: its files are the package's.
    await context.route("https://cdn.example/heed/**", (route) => {
      const path = installed("dist", new URL(route.request().url()).pathname.replace("/heed/", ""));
      return route.fulfill({ path, headers: CDN });
    });
    const script = `
      import { compute, leave } from "./compute.js";
      import * as assets from "https://cdn.example/heed/assets.js";
      import * as reference from "https://cdn.example/heed/reference.js";

      async function outcome() {
        let given;
        const createHeed = (options) => {
          given = options;
          return assets.createHeed(options);
        };
        ${codeUnder("From a CDN")}
        heed.dispose();
        return compute(assets, reference, given);
      }

      leave(outcome());
    `;
    await host.addPage("cdn", `<script type="module">${script}</script>`);
    const found = await visit(context, `${(await host.serve(headers)).address}cdn.html`);
    await context.close();
    expectWorker(found, worker);
  });
});

test("a bundle that left the files behind says which it looked for, and runs when it has them", async () => {
  const { consumer } = host;
  await cp(installed("dist"), consumer.path("bundle"), {
    recursive: true,
    filter: (path) => !/dist\/assets(?:\/|$)/.test(path),
  });
  const site = await host.serve();
  const module = "/bundle/assets.js";
  expect((await visit(browser, pageOf(site, { module }))).failure).toMatch(
    /\/bundle\/assets\/wasm-relaxed\.wasm: HTTP status 404/,
  );
  await cp(installed("dist/assets"), consumer.path("bundle/assets"), { recursive: true });
  expectWorker(await visit(browser, pageOf(site, { module })), "private-memory");
});
