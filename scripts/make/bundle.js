// Builds dist from web/src: ES modules for browsers and Node, the files that may be hosted, and the declarations of the public entries.

import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { build } from "vite";
import { Failure, run } from "../lib/steps.js";
import { MODULES, moduleFile } from "./artefacts.js";
import { bareShaders } from "./bare-shaders.js";
import { generated } from "./generate.js";
import { noticesFile } from "./notices.js";
import { root } from "./root.js";
import { sharedNames } from "./shared-names.js";
import { shortLines } from "./short-lines.js";

export const dist = join(root, "dist");

/** Entries of the common bundle, by the names of their files in dist. */
const ENTRIES = {
  index: "web/src/index.ts",
  layers: "web/src/layers/index.ts",
  train: "web/src/train/index.ts",
  reference: "web/src/reference/index.ts",
  webgpu: "web/src/webgpu.ts",
};

/** Modules shared by chunks that are loaded later. The first entry holds them: in a file of their own they would be fetched after the chunk. */
const SHARED_LATER = ["web/src/platform/next-task.ts"];

/** Modules shared by chunks that are loaded later still; one chunk holds them. */
const SHARED_LAST = [
  "operations/rope.ts",
  "operations/rows.ts",
  "operations/attention-vjp.ts",
  "backends/wasm/generated/operation-calls.ts",
  "api/unless-aborted.ts",
  "api/extra/distances.ts",
  "api/extra/rotation.ts",
  "api/extra/rope-frequencies.ts",
  "api/extra/remembering.ts",
  "api/cache/types.ts",
].map((file) => join(root, "web/src", file));

/** These are bundled alone: a page that only draws loads nothing of the engine. */
const VIEW_ENTRIES = { viz: "web/src/viz/index.ts" };

/** These import their errors from the index, and nothing else. */
const EXPR_ENTRIES = { expr: "web/src/expr/index.ts" };

/** The same surface with WebAssembly and worker as files. It is a bundle of its own, since no page loads both. */
const HOSTED_ENTRIES = { assets: "web/src/index.ts" };

/** The strings that bundlers search for: addresses in imports and URLs, and the type of a worker. */
const LOOKED_FOR = /\b(import\(|new URL\(|type:)`([^`$]+)`/g;

/**
 * Writes these strings with double quotes: the minifier uses backquotes, which not every bundler recognizes.
 * @type {import("vite").Plugin}
 */
const plainStrings = {
  name: "heed-plain-strings",
  generateBundle(_options, output) {
    for (const file of Object.values(output)) {
      if (file.type === "chunk") file.code = file.code.replaceAll(LOOKED_FOR, '$1"$2"');
    }
  },
};

/**
 * Replaces inlined.ts by hosted.ts.
 * @type {import("vite").Plugin}
 */
const hosted = {
  name: "heed-hosted",
  enforce: "pre",
  resolveId(source, importer) {
    if (importer === undefined || !source.endsWith("/inlined.js")) return undefined;
    return join(dirname(importer), source.replace(/inlined\.js$/, "hosted.ts"));
  },
  generateBundle(_options, output) {
    for (const file of Object.values(output)) {
      if (file.type === "chunk") file.code = file.code.replaceAll("HEED_MODULE_URL", "import.meta.url");
    }
  },
};

/**
 * Imports HeedError from the index, so that a page has one class of it.
 * @type {import("vite").Plugin}
 */
const errorsOfIndex = {
  name: "heed-errors-of-index",
  enforce: "pre",
  resolveId(source) {
    return source.endsWith("/errors.js") ? { id: "./index.js", external: true } : undefined;
  },
};

export async function bundle() {
  rmSync(dist, { recursive: true, force: true });
  await bundleEntries(ENTRIES, { plugins: [plainStrings], chunks: "[name].js" });
  await bundleEntries(VIEW_ENTRIES, { plugins: [], chunks: "viz-[name].js" });
  await bundleEntries(EXPR_ENTRIES, { plugins: [plainStrings, errorsOfIndex], chunks: "[name].js" });
  await bundleEntries(HOSTED_ENTRIES, { plugins: [plainStrings, hosted], chunks: "glue-[name].js" });
}

/** @param {Record<string, string>} entries @param {{ plugins: import("vite").Plugin[], chunks: string }} options */
async function bundleEntries(entries, { plugins, chunks }) {
  const [first = "", source = ""] = Object.entries(entries)[0] ?? [];
  const core = loadedWith(join(root, source));
  for (const file of SHARED_LATER) core.add(join(root, file));
  const layers = entries.layers === undefined ? new Set() : loadedWith(join(root, entries.layers));
  await build({
    configFile: false,
    logLevel: "warn",
    root,
    plugins: [...plugins, bareShaders, sharedNames, shortLines],
    build: {
      outDir: dist,
      emptyOutDir: false,
      target: "es2022",
      // Every consumer has a bundler or HTTP compression of its own; source maps would double the download.
      sourcemap: false,
      lib: { entry: mapValues(entries, (path) => join(root, path)), formats: ["es"] },
      rolldownOptions: {
        // The first entry holds what entries share: a file of its own would be fetched after it.
        preserveEntrySignatures: "allow-extension",
        output: {
          entryFileNames: "[name].js",
          chunkFileNames: chunks,
          // Consumers recognize an error by the name of its class.
          minify: { compress: true, mangle: { reserved: ["HeedError"] }, codegen: true },
          codeSplitting: {
            includeDependenciesRecursively: false,
            groups: [
              { name: first, test: (id) => core.has(id) },
              { name: "shared", test: (id) => SHARED_LAST.includes(id) },
              // heed/train comes beside heed/layers.
              { name: "layers", test: (id) => layers.has(id) },
            ],
          },
        },
      },
    },
  });
}

/** Modules that are loaded with an entry: its imports and theirs, without types. @param {string} entry */
function loadedWith(entry) {
  const found = new Set([entry]);
  for (const file of found) {
    for (const [, specifier = ""] of readFileSync(file.replace(/\?raw$/, ""), "utf8").matchAll(
      /^(?:import|export) (?!type )[^;]*?from "(\.[^"]+\.(?:js|css\?raw))";/gm,
    )) {
      const imported = join(dirname(file), specifier.replace(/\.js$/, ".ts"));
      found.add(imported);
      // hosted.ts replaces it in one of the bundles.
      if (imported.endsWith("/inlined.ts")) found.add(imported.replace(/inlined\.ts$/, "hosted.ts"));
    }
  }
  return found;
}

/** Copies the wasm files and the worker, for heed/assets and for `createHeed({ wasm })`, and the notices. */
export function copyAssets() {
  const assets = join(dist, "assets");
  mkdirSync(assets, { recursive: true });
  for (const name of MODULES) cpSync(moduleFile(name, "wasm"), join(assets, `${name}.wasm`));
  cpSync(join(generated, "worker.js"), join(assets, "worker.js"));
  cpSync(noticesFile, join(dist, basename(noticesFile)));
}

/** Writes the declarations that public types refer to. The others would name generated modules. */
export async function declare() {
  const made = join(root, "build", "declarations");
  rmSync(made, { recursive: true, force: true });
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.declarations.json"], {
    cwd: root,
  });
  for (const file of reachable(
    Object.values({ ...ENTRIES, ...VIEW_ENTRIES, ...EXPR_ENTRIES }).map((path) =>
      join(made, declarationOf(relative("web/src", path))),
    ),
  )) {
    const target = join(dist, relative(made, file));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(file, target);
  }
}

/** @param {readonly string[]} entries */
function reachable(entries) {
  const found = new Set(entries);
  for (const file of found) {
    for (const [, specifier] of readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)) {
      if (specifier?.includes("/generated/")) throw new Failure(`the public types reach ${specifier} through ${file}`);
      if (specifier !== undefined) found.add(join(dirname(file), declarationOf(specifier)));
    }
  }
  return [...found];
}

/** @param {string} path */
const declarationOf = (path) => path.replace(/\.(?:js|ts)$/, ".d.ts");

/**
 * @template T, U
 * @param {Record<string, T>} object @param {(value: T) => U} change
 * @returns {Record<string, U>}
 */
const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
