// The package as a stranger gets it: packed, installed into an empty folder, run under Node, type-checked, and built into a page.

import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  expect(existsSync(join(root, "dist/index.js")), "dist is missing: npm run build makes it").toBe(true);
  folder = mkdtempSync(join(tmpdir(), "heed-package-"));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: root });
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  cpSync(join(root, "tests/package/consumer"), folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  await run("npm", ["install", "--no-audit", "--no-fund", "--offline", `./${tarball}`], { cwd: folder });
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("packs the built files, their types and the licence, and nothing else", () => {
  const files = readdirSync(join(folder, "node_modules/heed"));
  expect(files.filter((name) => !["CHANGELOG.md", "README.md"].includes(name)).sort()).toEqual([
    "LICENSE",
    "dist",
    "package.json",
  ]);
  const manifest: { dependencies?: object; version: string } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  expect(manifest.dependencies).toBeUndefined();
});

describe("under Node", () => {
  test.each([
    ["as it is", []],
    // Whatever flag this Node needs for it, these tests were started with.
    ["with relaxed SIMD", process.execArgv.filter((flag) => flag.includes("relaxed-simd"))],
  ])("computes and ends by itself, %s", async (name, flags) => {
    const { stdout } = await run(process.execPath, [...flags, "run.mjs"], { cwd: folder, timeout: 20_000 });
    expect(stdout).toMatch(/^done (simd|relaxed)\n$/);
    if (name === "with relaxed SIMD") expect(stdout).toContain("relaxed");
  });

  test("importing needs and leaves no globals, and exports only names of the surface", async () => {
    const { stdout } = await run(process.execPath, ["import.mjs"], { cwd: folder });
    expect(stdout.trim()).toBe("HeedError,attention,createHeed");
  });
});

describe("README.md", () => {
  const blocks = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/^```js\n(.*?)^```$/gms)].map(
    ([, code]) => code,
  );

  test("shows code", () => expect(blocks.length).toBeGreaterThan(0));

  test.each(blocks.map((code, index) => [index + 1, code ?? ""] as const))(
    "block %i runs as it stands",
    async (index, code) => {
      const file = `readme-${index}.mjs`;
      writeFileSync(join(folder, file), code);
      const { stdout, stderr } = await run(process.execPath, [file], { cwd: folder, timeout: 20_000 });
      expect(stderr).toBe("");
      expect(stdout).not.toBe("");
      expect(stdout).not.toMatch(/NaN|undefined/);
    },
  );
});

test.each([
  ["ESNext", "bundler"],
  ["Node16", "node16"],
  ["NodeNext", "nodenext"],
])("type-checks with module %s and moduleResolution %s", async (module, moduleResolution) => {
  const options = {
    module,
    moduleResolution,
    target: "ES2022",
    lib: ["ES2022", "DOM"],
    types: [],
    strict: true,
    noEmit: true,
  };
  const config = join(folder, `tsconfig.${moduleResolution}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions: options, files: ["types.ts"] }));
  const { stdout } = await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", config]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe("");
});

describe("as a production build in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    await build({ root: folder, configFile: false, logLevel: "warn", build: { outDir: "site", target: "es2022" } });
    const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    browser = await chromium.launch({ executablePath: inject("chromiumPath"), args });
  }, 120_000);
  afterAll(() => browser?.close());

  test("needs no other file than its own chunks", () => {
    const names = readdirSync(join(folder, "site/assets"));
    expect(names.filter((name) => !name.endsWith(".js"))).toEqual([]);
    // Each variant stays a chunk of its own, of which a page loads one.
    expect(names.filter((name) => name.startsWith("wasm-")).length).toBe(4);
  });

  test("hosted files stand in for the inlined ones, under a policy that forbids blobs", async () => {
    cpSync(join(folder, "node_modules/heed/dist/assets"), join(folder, "site/hosted"), { recursive: true });
    const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
    const server = await serve(join(folder, "site"), { "Content-Security-Policy": policy });
    const outcome = await outcomeOf(`${server.address}?hosted`);
    server.close();
    expect(outcome).toMatchObject({ worker: "private-memory", variant: "simd" });
    expect(outcome.error).toBeLessThan(1e-6);
    expect(outcome.requests.filter((url) => url.includes("/hosted/")).sort()).toEqual([
      `${server.address}hosted/wasm-simd.wasm`,
      `${server.address}hosted/worker.js`,
    ]);
  });

  const ISOLATION = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
  const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";

  test.each([
    ["on an isolated page", ISOLATION, "shared-memory"],
    ["on a page without isolation", {}, "private-memory"],
    [
      "under a strict policy that allows blob workers",
      { "Content-Security-Policy": `${POLICY}; worker-src blob:` },
      "private-memory",
    ],
    ["under a strict policy that forbids workers", { "Content-Security-Policy": `${POLICY}; worker-src 'none'` }, null],
  ])("computes %s", async (_name, headers, worker) => {
    const server = await serve(join(folder, "site"), headers);
    const outcome = await outcomeOf(server.address);
    server.close();
    expect(outcome.failure).toBeUndefined();
    expect(outcome.error).toBeLessThan(1e-6);
    expect(outcome).toMatchObject({ worker, variant: "relaxed" });
    expect(outcome.requests.filter((url) => url.includes("/wasm-")).length).toBe(1);
  });

  /** What the page of consumer/page.js found, and the addresses that it asked for. */
  async function outcomeOf(address: string): Promise<Outcome & { readonly requests: readonly string[] }> {
    const page = await browser.newPage();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    try {
      await page.goto(address);
      const handle = await page.waitForFunction(() => Reflect.get(globalThis, "outcome"), undefined, {
        timeout: 30_000,
      });
      return { ...(await handle.jsonValue()), requests };
    } finally {
      await page.close();
    }
  }
});

interface Outcome {
  readonly failure?: string;
  readonly error: number;
  readonly worker: string | null;
  readonly variant: string;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".wasm": "application/wasm",
};

async function serve(
  site: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ address: string; close(): void }> {
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const path = join(site, pathname === "/" ? "index.html" : pathname);
    if (!existsSync(path)) return response.writeHead(404).end();
    return response
      .writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "text/plain", ...headers })
      .end(readFileSync(path));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return { address: `http://127.0.0.1:${address.port}/`, close: () => server.close() };
}
