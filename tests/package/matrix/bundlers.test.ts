// The packed package under every bundler, with nothing but what the bundler needs for any package; the results in Chromium.

import { createHash } from "node:crypto";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Consumer, type Entry, type Printed } from "../support/consumer.js";
import { quotedIn, tableUnder } from "../support/guide.js";
import { expectRight } from "../support/outcome.js";
import { ISOLATION, STRICT, serve } from "../support/server.js";
import { openChromium, visit } from "../support/visit.js";

interface Bundler {
  readonly name: string;
  readonly entry: Entry;
  /** Its program, and what to build. */
  readonly command: readonly [string, ...string[]];
  /** What else it is told: words that belong together. */
  readonly options?: readonly (readonly string[])[];
  /** It builds pages; for the others the page is copied beside what they built. */
  readonly pages?: true;
  /** It leaves addresses of files as they are, so that the files are copied beside what it built. */
  readonly copiesFiles?: false;
  /** It puts a script into the page itself. */
  readonly inlineScript?: true;
  /** What it keeps in the folder for itself. */
  readonly leftovers?: readonly string[];
}

const VITE = { name: "Vite", command: ["vite/bin/vite.js", "build"], pages: true } as const;
const WEBPACK = {
  name: "webpack",
  command: ["webpack-cli/bin/cli.js", "build"],
  options: [["--entry", "./main.js"]],
} as const;
const ROLLUP = {
  name: "Rollup",
  command: ["rollup/dist/bin/rollup", "main.js"],
  options: [
    ["-p", "@rollup/plugin-node-resolve"],
    ["-d", "dist"],
  ],
} as const;
const ESBUILD = {
  name: "esbuild",
  command: ["esbuild/bin/esbuild", "main.js"],
  options: [["--bundle"], ["--splitting"], ["--format=esm"], ["--outdir=dist"]],
} as const;
const ONE_SCRIPT = {
  name: "esbuild to one script",
  command: ESBUILD.command,
  options: [["--bundle"], ["--outfile=dist/main.js"]],
} as const;
const PARCEL = {
  name: "Parcel",
  command: ["parcel/lib/bin.js", "build", "index.html"],
  pages: true,
  inlineScript: true,
  leftovers: [".parcel-cache"],
} as const;

const BUNDLERS: readonly Bundler[] = [
  { ...VITE, entry: "heed" },
  { ...VITE, entry: "heed/assets" },
  { ...WEBPACK, entry: "heed" },
  { ...WEBPACK, entry: "heed/assets" },
  { ...ROLLUP, entry: "heed" },
  { ...ROLLUP, entry: "heed/assets", copiesFiles: false },
  { ...ESBUILD, entry: "heed" },
  { ...ESBUILD, entry: "heed/assets", copiesFiles: false },
  { ...ONE_SCRIPT, entry: "heed" },
  { ...PARCEL, entry: "heed" },
  { ...PARCEL, entry: "heed/assets" },
];

function build(consumer: Consumer, { command, options = [] }: Pick<Bundler, "command" | "options">): Promise<Printed> {
  const [program, ...words] = command;
  return consumer.tool(program, ...words, ...options.flat());
}

const browser = await openChromium();
afterAll(() => browser.close());

describe.each(BUNDLERS)("$name with $entry", (bundler) => {
  const { name, entry, pages, copiesFiles, inlineScript = false, leftovers = [] } = bundler;
  let consumer: Consumer;
  beforeAll(async () => {
    consumer = await Consumer.make(`${name} ${entry}`.replaceAll(/\W+/g, "-"), "page");
    await consumer.useEntry("main.js", entry);
    await build(consumer, bundler);
    if (pages === undefined) await consumer.add("page/index.html", "dist/index.html");
    if (copiesFiles === false) {
      expect((await readdir(consumer.path("dist"))).filter((file) => !file.endsWith(".js"))).toEqual(["index.html"]);
      await cp(consumer.path("node_modules/heed/dist/assets"), consumer.path("dist/assets"), { recursive: true });
    }
  }, 120_000);

  test("needs no configuration, and changes nothing in the project", async () => {
    const files = await readdir(consumer.folder);
    expect(files.filter((file) => !leftovers.includes(file)).sort()).toEqual([
      "compute.js",
      "dist",
      "index.html",
      "main.js",
      "node_modules",
      "package.json",
      "parts.js",
      "service-worker.js",
    ]);
    expect(await readFile(consumer.path("package.json"), "utf8")).toBe(consumer.manifest);
    expect(await readdir(consumer.path("node_modules"))).toEqual(["heed"]);
  });

  test(`puts ${inlineScript ? "a" : "no"} script into the page`, async () => {
    const scripts = inlineScripts(await readFile(consumer.path("dist/index.html"), "utf8"));
    expect(scripts.length > 0).toBe(inlineScript);
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

test("under a policy that does not name the hash of Parcel's script, heed's parts are not found", async () => {
  const consumer = await Consumer.make("parcel-without-hash", "page");
  await build(consumer, PARCEL);
  const site = await serve({ "/": consumer.path("dist") }, { "Content-Security-Policy": STRICT });
  const { failure, complaints } = await visit(browser, site.address);
  site.close();
  expect(failure).toMatch(/^load: createHeed: .*Failed to resolve module specifier/);
  expect(complaints.join()).toMatch(/inline script/);
});

/** What a build of a package with nothing to configure does in a page: the files that were loaded, or null. */
async function partsOfPlain(name: string, bundler: Pick<Bundler, "command" | "options">): Promise<number | null> {
  const consumer = await Consumer.make(name, "plain");
  await consumer.add("plain/plain", "node_modules/plain");
  try {
    await build(consumer, bundler);
    await consumer.add("page/index.html", "dist/index.html");
  } catch {
    return null;
  }
  const site = await serve({ "/": consumer.path("dist") });
  const page = await browser.newPage();
  let scripts = 0;
  page.on("response", (response) => {
    if (response.ok() && response.url().endsWith(".js")) scripts += 1;
  });
  await page.goto(site.address, { waitUntil: "networkidle" });
  const ran = await page.evaluate(() => Reflect.get(globalThis, "outcome") === "loaded");
  await page.close();
  site.close();
  return ran ? scripts : null;
}

describe.each([
  { ...WEBPACK, parts: 2 },
  { ...ROLLUP, parts: 2 },
  { ...ESBUILD, parts: 2 },
  { ...ONE_SCRIPT, parts: 1 },
])("$name's options", ({ parts, command, options, name }) => {
  const folder = name.replaceAll(" ", "-");

  test("suffice for a package with one dynamic import and nothing else", async () => {
    expect(await partsOfPlain(`plain-${folder}`, { command, options })).toBe(parts);
  });

  test.each(options.map((option, index) => [option.join(" "), index] as const))(
    "%s: it needs it as well",
    async (_, left) => {
      const fewer = options.filter((_option, index) => index !== left);
      const without = `plain-${folder}-without-${left}`;
      expect(await partsOfPlain(without, { command, options: fewer })).not.toBe(parts);
    },
  );
});

describe("esbuild to one script", () => {
  test("has all four variants in it", async () => {
    const consumer = await Consumer.make("one-script", "page");
    await build(consumer, ONE_SCRIPT);
    expect(await readdir(consumer.path("dist"))).toEqual(["main.js"]);
    const script = await readFile(consumer.path("dist/main.js"), "utf8");
    for (const variant of ["wasm-simd", "wasm-simd-threads", "wasm-relaxed", "wasm-relaxed-threads"]) {
      const chunk = await readFile(consumer.path(`node_modules/heed/dist/${variant}.js`), "utf8");
      // The characters of the binary's text: no code has so many of them in a row.
      const binaries = [...chunk.matchAll(/[%-[a-z]{2000,}/g)].map(([text]) => text);
      expect(binaries.length, variant).toBeGreaterThan(0);
      for (const text of binaries) expect(script.includes(text), variant).toBe(true);
    }
  });

  test("has no address for the files of heed/assets", async () => {
    const consumer = await Consumer.make("one-script-assets", "page");
    await consumer.useEntry("main.js", "heed/assets");
    await build(consumer, ONE_SCRIPT);
    await consumer.add("page/index.html", "dist/index.html");
    await cp(consumer.path("node_modules/heed/dist/assets"), consumer.path("dist/assets"), { recursive: true });
    const site = await serve({ "/": consumer.path("dist") });
    const { failure } = await visit(browser, site.address);
    site.close();
    expect(failure).toMatch(/^load: createHeed: /);
  });
});

describe("docs/hosting.md", () => {
  test("names the versions that are tried here", async () => {
    const manifest = await readFile(new URL("package.json", import.meta.url), "utf8");
    const { dependencies } = JSON.parse(manifest);
    const named = tableUnder("Bundlers").flatMap(([cell = ""]) => [...cell.matchAll(/(\w[\w.]*) (\d+)\b/g)]);
    expect(named.map(([, name]) => name).sort()).toEqual(["Next.js", "Parcel", "Rollup", "Vite", "webpack"]);
    for (const [, name = "", major] of named) {
      expect(dependencies[name.toLowerCase().replace(".js", "")], name).toMatch(new RegExp(`^${major}\\.`));
    }
  });

  test("names the options that are used here", () => {
    const options = tableUnder("Bundlers").flatMap(([cell = ""]) =>
      quotedIn(cell).flatMap((words) => words.split(" ")),
    );
    expect(options).toEqual(ESBUILD.options.flat().filter((word) => !word.startsWith("--outdir")));
  });
});

test.each([
  "heed",
  "heed/assets",
  "heed/expr",
  "heed/layers",
  "heed/models",
  "heed/reference",
  "heed/text",
  "heed/viz",
])("an import of %s that is not used leaves nothing in a bundle", async (entry) => {
  const consumer = await Consumer.make(`unused-${entry.replace("/", "-")}`, "page");
  await writeFile(consumer.path("main.js"), `import * as unused from "${entry}";\nconsole.log("used");\n`);
  const options = [["--bundle"], ["--format=esm"], ["--outfile=dist/main.js"]];
  await build(consumer, { command: ESBUILD.command, options });
  const lines = (await readFile(consumer.path("dist/main.js"), "utf8")).split("\n");
  expect(lines.filter((line) => line !== "" && !line.startsWith("//"))).toEqual(['console.log("used");']);
});

/** The least that heed needs, and the inline scripts of the page by their hashes: Parcel writes an import map into it. */
function strictPolicy(page: string, entry: Entry): Readonly<Record<string, string>> {
  const hashes = inlineScripts(page).map((text) => ` 'sha256-${createHash("sha256").update(text).digest("base64")}'`);
  const scripts = STRICT.replace("script-src 'self'", `script-src 'self'${hashes.join("")}`);
  return { "Content-Security-Policy": entry === "heed" ? `${scripts}; worker-src blob:` : scripts };
}

function inlineScripts(page: string): readonly string[] {
  return [...page.matchAll(/<script(?![^>]*\bsrc=)[^>]*>(.*?)<\/script>/gs)].map(([, text = ""]) => text);
}
