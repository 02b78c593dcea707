// Builds dist from web/src: ES modules for browsers and Node, the files that may be hosted, and the declarations of the public entries.

import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { build } from "vite";
import { MODULES, moduleFile } from "./artefacts.js";
import { bareShaders } from "./bare-shaders.js";
import { declare } from "./declarations.js";
import { generated } from "./generate.js";
import { LazyChunks, OPENER } from "./lazy-chunks.js";
import { noticesFile } from "./notices.js";
import { publicNames } from "./public-names.js";
import { pureStatements } from "./pure-statements.js";
import { root } from "./root.js";
import { shortLines } from "./short-lines.js";

export const dist = join(root, "dist");

/** Entries of the common bundle, by the names of their files in dist. */
const ENTRIES = {
  index: "web/src/index.ts",
  text: "web/src/layers/text/index.ts",
  layers: "web/src/layers/index.ts",
  models: "web/src/models/index.ts",
  train: "web/src/train/index.ts",
  reference: "web/src/reference/index.ts",
  webgpu: "web/src/webgpu.ts",
};

/** Chunks that are loaded at the first use of something, by what they are made of. All entries have them in common. */
const LAZY = {
  extra: importedLater("web/src/functions.ts"),
  gpu: ["web/src/gpu.ts"],
  program: ["web/src/backends/wasm/program.ts"],
  "given-binary": ["web/src/backends/wasm/given-binary.ts"],
  "shared-runner": ["web/src/backends/wasm/shared-runner.ts"],
  "unshared-runners": ["web/src/backends/wasm/unshared-runners.ts"],
  "compile-vjp": ["web/src/expr/compile-vjp.ts"],
  "train-later": [
    "web/src/train/later/losses.ts",
    "web/src/train/later/metrics.ts",
    "web/src/train/later/batches.ts",
    "web/src/train/later/evaluation.ts",
    "web/src/train/later/functions.ts",
  ],
  "relative-positions": ["web/src/train/relative-positions.ts"],
};

/** A module that these chunks share. The index holds it: in a file of its own it would be fetched after the chunk. */
const SHARED_LATER = "web/src/platform/next-task.ts";

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
 * Bundlers leave alone what is imported by a name that only the page knows. The minifier drops such comments.
 * @type {import("vite").Plugin}
 */
const importsOfPages = {
  name: "heed-imports-of-pages",
  generateBundle(_options, output) {
    for (const file of Object.values(output)) {
      if (file.type === "chunk") {
        file.code = file.code.replaceAll(/\bimport\(([\w$]+)\)/g, "import(/*webpackIgnore:true*//*@vite-ignore*/$1)");
      }
    }
  },
};

/**
 * Replaces inlined.ts by hosted.ts, and what it imports likewise.
 * @type {import("vite").Plugin}
 */
const hosted = {
  name: "heed-hosted",
  enforce: "pre",
  resolveId(source, importer) {
    const name = /\/inlined(|-more)\.js$/.exec(source);
    if (importer === undefined || name === null) return undefined;
    return join(dirname(importer), source.replace(name[0], `/hosted${name[1]}.ts`));
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
  const index = loadedWith(ENTRIES.index, SHARED_LATER);
  const lazy = new LazyChunks(LAZY, index);
  await bundleEntries(lazy.entries, [plainStrings, lazy.own, lazy.users], [{ name: "shared", minShareCount: 2 }]);

  const isOfIndex = (/** @type {string} */ id) => index.has(id) || id === OPENER;
  // heed/layers comes beside heed/text, which holds what both have in common.
  const text = loadedWith(ENTRIES.text);
  // heed/train comes beside heed/layers, which holds what both have in common with other operations.
  const layers = loadedWith(ENTRIES.layers, ...LAZY.extra);
  await bundleEntries(
    ENTRIES,
    [plainStrings, importsOfPages, lazy.users, publicNames, pureStatements],
    [
      { name: "index", test: isOfIndex },
      { name: "text", test: (id) => text.has(id) },
      { name: "layers", test: (id) => layers.has(id) },
    ],
  );
  await bundleEntries(VIEW_ENTRIES, [pureStatements], []);
  await bundleEntries(EXPR_ENTRIES, [plainStrings, errorsOfIndex, pureStatements], []);
  const ofAssets = [plainStrings, hosted, lazy.users, publicNames, pureStatements];
  await bundleEntries(HOSTED_ENTRIES, ofAssets, [{ name: "assets", test: isOfIndex }], "glue-[name].js");
}

/**
 * @param {Record<string, string>} entries
 * @param {import("vite").Plugin[]} plugins
 * @param {import("vite").Rolldown.CodeSplittingGroup[]} groups
 */
async function bundleEntries(entries, plugins, groups, chunkFileNames = "[name].js") {
  await build({
    configFile: false,
    logLevel: "warn",
    root,
    plugins: [bareShaders, shortLines, ...plugins],
    build: {
      outDir: dist,
      emptyOutDir: false,
      target: "es2022",
      // Every consumer has a bundler or HTTP compression of its own; source maps would double the download.
      sourcemap: false,
      lib: { entry: absolute(entries), formats: ["es"] },
      rolldownOptions: {
        // The first entry holds what entries share: a file of its own would be fetched after it.
        preserveEntrySignatures: "allow-extension",
        output: {
          entryFileNames: "[name].js",
          chunkFileNames,
          // Consumers recognize an error by the name of its class.
          // pureStatements marks what can be dropped.
          comments: { annotation: false },
          minify: { compress: true, mangle: { reserved: ["HeedError"] }, codegen: true },
          codeSplitting: groups.length === 0 || { includeDependenciesRecursively: false, groups },
        },
      },
    },
  });
}

/** The files that one in web/src imports later. @param {string} path @returns {readonly string[]} */
function importedLater(path) {
  const found = readFileSync(join(root, path), "utf8").matchAll(/\bimport\("(\..*)\.js"\)/g);
  return Array.from(new Set(Array.from(found, ([, imported]) => join(dirname(path), `${imported}.ts`))));
}

/** Modules that are loaded with others: their imports and theirs, without types. @param {readonly string[]} paths */
function loadedWith(...paths) {
  const found = new Set(paths.map((path) => join(root, path)));
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

/** Writes the declarations of the public entries. */
export const declareEntries = () =>
  declare(Object.values(absolute({ ...ENTRIES, ...VIEW_ENTRIES, ...EXPR_ENTRIES })), dist);

/** @param {Record<string, string>} paths */
const absolute = (paths) => Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, join(root, path)]));
