// The packed package under every bundler, with nothing but what the bundler needs for any package; the results in Chromium.

import { createHash } from "node:crypto";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import type { Browser } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Consumer, type Entry } from "./support/consumer.js";
import { expectRight } from "./support/outcome.js";
import { ISOLATION, STRICT, serve } from "./support/server.js";
import { openChromium, visit } from "./support/visit.js";

interface Bundler {
  readonly name: string;
  readonly entry: Entry;
  /** Its program and all that it is told: what to build, and where to. */
  readonly command: readonly [string, ...string[]];
  /** It builds pages; for the others the page is copied beside what they built. */
  readonly pages?: true;
  /** It leaves addresses of files as they are, so that the files are copied beside what it built. */
  readonly copiesFiles?: false;
  /** What it keeps in the folder for itself. */
  readonly leftovers?: readonly string[];
}

const ROLLUP = ["rollup/dist/bin/rollup", "-p", "@rollup/plugin-node-resolve", "-d", "dist", "main.js"] as const;
const ESBUILD = ["esbuild/bin/esbuild", "--bundle", "main.js"] as const;
const SPLIT = ["--format=esm", "--splitting", "--outdir=dist"];
const WEBPACK = ["webpack-cli/bin/cli.js", "--mode", "production", "--entry", "./main.js"] as const;
const PARCEL = ["parcel/lib/bin.js", "build", "index.html"] as const;

const BUNDLERS: readonly Bundler[] = [
  { name: "Vite", entry: "heed", command: ["vite/bin/vite.js", "build"], pages: true },
  { name: "Vite", entry: "heed/assets", command: ["vite/bin/vite.js", "build"], pages: true },
  { name: "webpack", entry: "heed", command: WEBPACK },
  { name: "webpack", entry: "heed/assets", command: WEBPACK },
  { name: "Rollup", entry: "heed", command: ROLLUP },
  { name: "Rollup", entry: "heed/assets", command: ROLLUP, copiesFiles: false },
  { name: "esbuild", entry: "heed", command: [...ESBUILD, ...SPLIT] },
  { name: "esbuild", entry: "heed/assets", command: [...ESBUILD, ...SPLIT], copiesFiles: false },
  { name: "esbuild to one script", entry: "heed", command: [...ESBUILD, "--outfile=dist/main.js"] },
  { name: "Parcel", entry: "heed", command: PARCEL, pages: true, leftovers: [".parcel-cache"] },
  { name: "Parcel", entry: "heed/assets", command: PARCEL, pages: true, leftovers: [".parcel-cache"] },
];

let browser: Browser;
beforeAll(async () => {
  browser = await openChromium();
});
afterAll(() => browser?.close());

describe.each(BUNDLERS)("$name with $entry", ({ name, entry, command, pages, copiesFiles, leftovers = [] }) => {
  let consumer: Consumer;
  beforeAll(async () => {
    consumer = await Consumer.make(`${name} ${entry}`.replaceAll(/\W+/g, "-"), "page");
    await consumer.useEntry("main.js", entry);
    const [program, ...args] = command;
    await consumer.tool(program, ...args);
    if (pages === undefined) await consumer.add("page/index.html", "dist/index.html");
    if (copiesFiles === false)
      await cp(consumer.path("node_modules/heed/dist/assets"), consumer.path("dist/assets"), { recursive: true });
  }, 120_000);

  test("needs no configuration, and changes nothing in the project", async () => {
    const files = await readdir(consumer.folder);
    expect(files.filter((file) => !leftovers.includes(file)).sort()).toEqual(
      ["compute.js", "dist", "index.html", "main.js", "node_modules", "package.json"].sort(),
    );
    expect(await readFile(consumer.path("package.json"), "utf8")).toBe(consumer.manifest);
    expect(await readdir(consumer.path("node_modules"))).toEqual(["heed"]);
    expect(command.filter((word) => /config|alias|define|external|loader/.test(word))).toEqual([]);
  });

  test.each([
    ["on an isolated page", () => ISOLATION, "shared-memory"],
    ["on a page without isolation", () => ({}), "private-memory"],
    ["under a strict policy", (page: string) => strictPolicy(page, entry), "private-memory"],
  ])("computes %s, in a worker", async (_name, headers, worker) => {
    const page = await readFile(consumer.path("dist/index.html"), "utf8");
    const site = await serve({ "/": consumer.path("dist") }, headers(page));
    const found = await visit(browser, site.address);
    site.close();
    expectRight(found);
    expect(found).toMatchObject({ worker, variant: "relaxed" });
    expect(found.reasons.filter((reason) => /refused/.test(reason))).toEqual([]);
    expect(found.complaints.filter((text) => !/404/.test(text))).toEqual([]);
    const binaries = new Set(found.requests.filter((url) => url.endsWith(".wasm")));
    expect(binaries.size).toBe(entry === "heed" ? 0 : 1);
  });
});

test.each(["heed", "heed/assets", "heed/expr", "heed/layers", "heed/reference", "heed/viz"])(
  "an import of %s that is not used leaves nothing in a bundle",
  async (entry) => {
    const consumer = await Consumer.make(`unused-${entry.replace("/", "-")}`, "page");
    await writeFile(consumer.path("main.js"), `import * as unused from "${entry}";\nconsole.log("used");\n`);
    const [program, ...args] = ESBUILD;
    await consumer.tool(program, ...args, "--format=esm", "--outfile=dist/main.js");
    const lines = (await readFile(consumer.path("dist/main.js"), "utf8")).split("\n");
    expect(lines.filter((line) => line !== "" && !line.startsWith("//"))).toEqual(['console.log("used");']);
  },
);

/** The least that heed needs, and the inline scripts of the page by their hashes: Parcel writes an import map into it. */
function strictPolicy(page: string, entry: Entry): Readonly<Record<string, string>> {
  const hashes = [...page.matchAll(/<script(?![^>]*\bsrc=)[^>]*>(.*?)<\/script>/gs)].map(
    ([, text = ""]) => ` 'sha256-${createHash("sha256").update(text).digest("base64")}'`,
  );
  const scripts = STRICT.replace("script-src 'self'", `script-src 'self'${hashes.join("")}`);
  return { "Content-Security-Policy": entry === "heed" ? `${scripts}; worker-src blob:` : scripts };
}
