// What docs/hosting.md says of cross-origin isolation, tried: headers, frames, other origins' files, a service worker.

import { writeFile } from "node:fs/promises";
import type { Frame, Page } from "playwright";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { codeUnder } from "./support/guide.js";
import { type Headers, ISOLATION } from "./support/server.js";
import { pageOf, StaticHost } from "./support/static-host.js";
import { expectWorker, openChromium, openFirefox, type Visit, visit } from "./support/visit.js";

const browser = await openChromium();
const host = await StaticHost.make("isolation");
afterAll(() => browser.close());
afterEach(() => host.close());

const CREDENTIALLESS = { ...ISOLATION, "Cross-Origin-Embedder-Policy": "credentialless" };
const FOR_ALL = { "Cross-Origin-Resource-Policy": "cross-origin" };

describe("headers", () => {
  const opener = { "Cross-Origin-Opener-Policy": "same-origin" };
  const embedder = { "Cross-Origin-Embedder-Policy": "require-corp" };

  test.each([
    ["none", {}, "private-memory"],
    ["both", { ...opener, ...embedder }, "shared-memory"],
    ["credentialless", CREDENTIALLESS, "shared-memory"],
    ["the one alone", opener, "private-memory"],
    ["the other alone", embedder, "private-memory"],
  ])("%s", async (_name, headers, worker) => {
    expectWorker(await visit(browser, pageOf(await host.serve(headers))), worker);
  });

  const firefoxPath = inject("firefoxPath");
  test.skipIf(firefoxPath === null)("Firefox knows credentialless", async () => {
    const firefox = await openFirefox(firefoxPath ?? "");
    try {
      expectWorker(await visit(firefox, pageOf(await host.serve(CREDENTIALLESS))), "shared-memory");
    } finally {
      await firefox.close();
    }
  });
});

test.each<[string, Headers, Headers, RequestMode, boolean]>([
  ["nothing said", ISOLATION, {}, "no-cors", false],
  ["CORS", ISOLATION, { "Access-Control-Allow-Origin": "*" }, "cors", true],
  ["a resource policy", ISOLATION, FOR_ALL, "no-cors", true],
  ["nothing said to a credentialless page", CREDENTIALLESS, {}, "no-cors", true],
])("a file of another origin with %s", async (_name, headers, foreign, mode, loads) => {
  const { elsewhere } = await host.serve(foreign);
  const opened = await browser.newPage();
  await opened.goto((await host.serve(headers)).address);
  const load = ([url = "", mode]: readonly [string, RequestMode]): Promise<boolean> =>
    fetch(url, { mode }).then(
      () => true,
      () => false,
    );
  expect(await opened.evaluate(load, [`${elsewhere}compute.js`, mode] as const)).toBe(loads);
  await opened.close();
});

describe("in a frame of another origin", () => {
  const ALLOWED = 'allow="cross-origin-isolated"';
  const EMBEDDER = { "Cross-Origin-Embedder-Policy": "require-corp" };
  const EMBEDDABLE = { ...EMBEDDER, ...FOR_ALL };

  const framed = async (opened: Page): Promise<Frame> => {
    await opened.waitForFunction(() => document.querySelector("iframe") !== null);
    const [frame] = opened.mainFrame().childFrames();
    if (frame === undefined) throw new Error("there is no frame");
    return frame;
  };

  async function addressFramed(outer: Headers, inner: Headers, attributes: string): Promise<string> {
    const { elsewhere } = await host.serve(inner);
    await host.addPage("frame", `<iframe ${attributes} src="${elsewhere}"></iframe>`);
    return `${(await host.serve(outer)).address}frame.html`;
  }

  async function visitFramed(outer: Headers, inner: Headers, attributes: string): Promise<Visit> {
    return visit(browser, await addressFramed(outer, inner, attributes), framed);
  }

  test("computes without headers", async () => {
    expectWorker(await visitFramed({}, {}, ""), "private-memory");
  });

  test("computes on shared memory with all that the guide asks for", async () => {
    expectWorker(await visitFramed(ISOLATION, EMBEDDABLE, ALLOWED), "shared-memory");
  });

  test.each([
    ["headers of the page around it", {}, EMBEDDABLE, ALLOWED],
    ["the attribute", ISOLATION, EMBEDDABLE, ""],
  ])("computes on private memory without %s", async (_name, outer, inner, attributes) => {
    expectWorker(await visitFramed(outer, inner, attributes), "private-memory");
  });

  test.each([
    ["embedder policy", FOR_ALL],
    ["resource policy", EMBEDDER],
  ])("is not shown in an isolated page without its %s", async (_name, inner) => {
    const opened = await browser.newPage();
    const failed = opened.waitForEvent("requestfailed");
    await opened.goto(await addressFramed(ISOLATION, inner, ALLOWED));
    expect((await failed).failure()?.errorText).toMatch(/BLOCKED_BY_RESPONSE/);
    await opened.close();
  });
});

describe("a service worker, the guide's, on a host that sends no headers", () => {
  beforeAll(async () => {
    await writeFile(host.consumer.path("isolate.js"), codeUnder("Isolation without headers"));
    const code = codeUnder("The page of that service worker");
    await host.addPage("isolated", `<script>${code}</script>\n<script type="module" src="./static.js"></script>`);
  });

  const loads = ({ requests }: Visit): number => requests.filter((url) => url.endsWith("/isolated.html")).length;

  test("isolates the page: the first visit loads twice, the next once", async () => {
    const address = `${(await host.serve()).address}isolated.html`;
    const context = await browser.newContext();
    const reloaded = async (opened: Page): Promise<Frame> => {
      await opened.waitForFunction(() => globalThis.crossOriginIsolated, undefined, { timeout: 15_000 });
      return opened.mainFrame();
    };
    for (const expected of [2, 1]) {
      const found = await visit(context, address, reloaded);
      expectWorker(found, "shared-memory");
      expect(loads(found)).toBe(expected);
    }
    await context.close();
  });

  test("leaves a browser in peace that it does not isolate", async () => {
    const context = await browser.newContext();
    await context.addInitScript(() => Object.defineProperty(globalThis, "crossOriginIsolated", { value: false }));
    const settled = async (opened: Page): Promise<Frame> => {
      await opened.waitForFunction(() => performance.getEntriesByType("navigation")[0]?.toJSON().type === "reload");
      // Were it to load once more, it would do so now, and this would fail or be too late.
      await opened.evaluate(async () => {
        await navigator.serviceWorker.ready;
        await new Promise((done) => setTimeout(done, 300));
      });
      return opened.mainFrame();
    };
    const found = await visit(context, `${(await host.serve()).address}isolated.html`, settled);
    await context.close();
    expectWorker(found, "private-memory");
    expect(loads(found)).toBe(2);
  });
});
