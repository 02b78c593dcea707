// Builds dist from web/src: ES modules for browsers and Node, the files that may be hosted, and the declarations of the public entries.

import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { build } from "vite";
import { MODULES, moduleFile } from "./artefacts.js";
import { bareShaders } from "./bare-shaders.js";
import { declare } from "./declarations.js";
import { generated } from "./generate.js";
import { fileOf, LazyChunks, OPENER } from "./lazy-chunks.js";
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

/** Its modules in the place of others. @type {Readonly<Record<string, string>>} */
const HOSTED = {
  "web/src/backends/wasm/inlined.ts": "web/src/backends/wasm/hosted.ts",
  "web/src/backends/wasm/inlined-more.ts": "web/src/backends/wasm/hosted-more.ts",
};

/** Entries for Cloudflare Workers, in a folder of their own, whose WebAssembly is imported. */
const { reference: _, ...WORKERD_ENTRIES } = ENTRIES;

/** Likewise. @type {Readonly<Record<string, string>>} */
const WORKERD = {
  "web/src/backends/wasm/inlined.ts": "web/src/backends/wasm/imported.ts",
  "web/src/platform/host.ts": "web/src/platform/workerd/host.ts",
  "web/src/platform/next-task.ts": "web/src/platform/workerd/next-task.ts",
};

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
 * Replaces modules by others, which may import what they replace.
 * @param {Readonly<Record<string, string>>} others @returns {import("vite").Plugin}
 */
const inPlaceOf = (others) => ({
  name: "heed-in-place-of",
  enforce: "pre",
  resolveId(source, importer) {
    const other = others[relative(root, fileOf(source, importer))];
    return other === undefined || importer === join(root, other) ? undefined : join(root, other);
  },
});

/**
 * Leaves the addresses of the hosted files to bundlers.
 * @type {import("vite").Plugin}
 */
const addresses = {
  name: "heed-addresses",
  generateBundle(_options, output) {
    for (const file of Object.values(output)) {
      if (file.type === "chunk") file.code = file.code.replaceAll("HEED_MODULE_URL", "import.meta.url");
    }
  },
};

/**
 * The binaries and their glue are beside the folder of the entries for Workers.
 * @type {import("vite").Plugin}
 */
const binariesBeside = {
  name: "heed-binaries-beside",
  enforce: "pre",
  resolveId(source) {
    const binary = /\/assets\/.*\.wasm$/.exec(source)?.[0];
    const glue = /\/glue\/(.*\.js)$/.exec(source)?.[1];
    if (binary !== undefined) return { id: `..${binary}`, external: true };
    return glue === undefined ? undefined : { id: `../glue-${glue}`, external: true };
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
  await bundleEntries(lazy.entries, [plainStrings, lazy.own, lazy.users()], [{ name: "shared", minShareCount: 2 }]);

  const isOfIndex = (/** @type {string} */ id) => index.has(id) || id === OPENER;
  // heed/layers comes beside heed/text, which holds what both have in common.
  const text = loadedWith(ENTRIES.text);
  // heed/train comes beside heed/layers, which holds what both have in common with other operations.
  const layers = loadedWith(ENTRIES.layers, ...LAZY.extra);
  const groups = [
    { name: "index", test: isOfIndex },
    { name: "text", test: (/** @type {string} */ id) => text.has(id) },
    { name: "layers", test: (/** @type {string} */ id) => layers.has(id) },
  ];
  const ofEntries = [plainStrings, importsOfPages, publicNames, pureStatements];
  const ofExpr = [plainStrings, errorsOfIndex, pureStatements];
  await bundleEntries(ENTRIES, [lazy.users(), ...ofEntries], groups);
  await bundleEntries(VIEW_ENTRIES, [pureStatements], []);
  await bundleEntries(EXPR_ENTRIES, ofExpr, []);
  const ofAssets = [plainStrings, inPlaceOf(HOSTED), addresses, lazy.users(), publicNames, pureStatements];
  await bundleEntries(HOSTED_ENTRIES, ofAssets, [{ name: "assets", test: isOfIndex }], {
    chunkFileNames: "glue-[name].js",
  });
  const workerd = { outDir: join(dist, "workerd") };
  const ofWorkerd = [inPlaceOf(WORKERD), binariesBeside, lazy.users("../"), ...ofEntries];
  await bundleEntries(WORKERD_ENTRIES, ofWorkerd, groups, workerd);
  await bundleEntries(EXPR_ENTRIES, ofExpr, [], workerd);
}

/**
 * @param {Record<string, string>} entries
 * @param {import("vite").Plugin[]} plugins
 * @param {import("vite").Rolldown.CodeSplittingGroup[]} groups
 */
async function bundleEntries(entries, plugins, groups, { outDir = dist, chunkFileNames = "[name].js" } = {}) {
  await build({
    configFile: false,
    logLevel: "warn",
    root,
    plugins: [bareShaders, shortLines, ...plugins],
    build: {
      outDir,
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
    // What replaces it in another bundle.
    for (const { [relative(root, file)]: other } of [HOSTED, WORKERD]) if (other) found.add(join(root, other));
    for (const [, specifier = ""] of readFileSync(file.replace(/\?raw$/, ""), "utf8").matchAll(
      /^(?:import|export) (?!type )[^;]*?from "(\.[^"]+\.(?:js|css\?raw))";/gm,
    )) {
      found.add(fileOf(specifier, file));
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
