// The packed package where a server makes the pages: Vite's development server, and Next.js, which also computes on the server.

import { readdir, readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Consumer } from "../support/consumer.js";
import { expectRight, type Outcome } from "../support/outcome.js";
import { type Running, start } from "../support/process.js";
import { openChromium, visit } from "../support/visit.js";

const browser = await openChromium();
afterAll(() => browser.close());

describe.each(["heed", "heed/assets"] as const)("Vite's development server with %s", (entry) => {
  let server: Running;
  beforeAll(async () => {
    const consumer = await Consumer.make(`vite-dev-${entry.replace("/", "-")}`, "page");
    await consumer.useEntry("main.js", entry);
    server = await start(consumer, "vite/bin/vite.js", "--port", "0", "--host", "127.0.0.1");
  }, 120_000);
  afterAll(() => server?.stop());

  test("computes in a worker", async () => {
    const found = await visit(browser, server.address);
    expectRight(found);
    expect(found).toMatchObject({ worker: "private-memory", variant: "relaxed" });
  });
});

describe("Next.js", () => {
  let consumer: Consumer;
  let server: Running;
  beforeAll(async () => {
    consumer = await Consumer.make("next", "next");
    await consumer.add("page/compute.js", "app/compute.js");
    await consumer.tool("next/dist/bin/next", "build");
    server = await start(consumer, "next/dist/bin/next", "start", "--port", "0", "--hostname", "127.0.0.1");
  }, 240_000);
  afterAll(() => server?.stop());

  test("needs no configuration, and changes nothing in the project", async () => {
    expect((await readdir(consumer.folder)).sort()).toEqual([".next", "app", "node_modules", "package.json"]);
    expect(await readFile(consumer.path("package.json"), "utf8")).toBe(consumer.manifest);
  });

  /** What a server component of the page found. */
  async function foundOnServer(path: string): Promise<Outcome> {
    const html = await (await fetch(`${server.address}${path}`)).text();
    const [, json = "{}"] = /<pre id="server">(.*?)<\/pre>/.exec(html) ?? [];
    return JSON.parse(json.replaceAll("&quot;", '"'));
  }

  test("a server component computes on the server", async () => {
    const found = await foundOnServer("");
    expectRight(found);
    expect(found.worker).toBe("shared-memory");
  });

  test("with heed/assets a server component may import, not compute: the files are the client's", async () => {
    expect((await foundOnServer("server-assets")).failure).toMatch(
      /^load: createHeed: .*cannot fetch.*\/_next\/static/,
    );
  });

  test.each([
    ["heed", ""],
    ["heed/assets", "assets"],
  ])("a client component computes in a worker, with %s", async (entry, path) => {
    const found = await visit(browser, `${server.address}${path}`);
    expectRight(found);
    expect(found).toMatchObject({ worker: "private-memory", variant: "relaxed" });
    const binaries = new Set(found.requests.filter((url) => url.endsWith(".wasm")));
    expect(binaries.size).toBe(entry === "heed" ? 0 : 1);
  });
});
