// Download sizes: brotli bytes of each variant as it is shipped, and of everything loaded beside it.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { note } from "../lib/steps.js";
import { fullOf, moduleFile, narrowOf, trainingOf, VARIANTS } from "./artefacts.js";
import { dist } from "./bundle.js";
import { root } from "./root.js";

export const sizesFile = join(root, "build", "sizes.json");

/** @param {string} path */
function brotliBytes(path) {
  const bytes = readFileSync(path);
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return brotliCompressSync(bytes, { params }).length;
}

/**
 * The brotli bytes of a module and of its static imports, without `loaded` ones.
 * @param {string} name @param {Set<string>} loaded
 */
function loadedBytes(name, loaded = new Set()) {
  if (loaded.has(name)) return 0;
  loaded.add(name);
  const path = join(dist, name);
  let bytes = brotliBytes(path);
  for (const [, imported = ""] of readFileSync(path, "utf8").matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g)) {
    bytes += loadedBytes(imported, loaded);
  }
  return bytes;
}

export function measureSizes() {
  const sizesOf = (/** @type {readonly string[]} */ names) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        {
          chunk: brotliBytes(join(dist, `${name}.js`)),
          hosted: brotliBytes(join(dist, `glue-${name}.js`)) + brotliBytes(moduleFile(name, "wasm")),
        },
      ]),
    );
  /** @type {Set<string>} */
  const loaded = new Set(["assets.js"]);
  const index = loadedBytes("index.js", loaded);
  /** The bytes of modules that are loaded after the entry. */
  const later = (/** @type {readonly string[]} */ ...names) => {
    const seen = new Set(loaded);
    return names.reduce((bytes, name) => bytes + loadedBytes(name, seen), 0);
  };
  const sizes = {
    index,
    assets: loadedBytes("assets.js") + brotliBytes(join(dist, "assets", "worker.js")),
    runners: { shared: later("shared-runner.js"), unshared: later("unshared-runners.js") },
    extra: later("extra.js"),
    expr: later("expr.js"),
    text: later("text.js"),
    layers: later("layers.js"),
    models: later("layers.js", "models.js") - later("layers.js"),
    train: later("layers.js", "train.js") - later("layers.js"),
    webgpu: later("gpu.js"),
    reference: loadedBytes("reference.js"),
    viz: loadedBytes("viz.js"),
    variants: sizesOf(VARIANTS),
    full: sizesOf(VARIANTS.map(fullOf)),
    training: sizesOf(VARIANTS.map(trainingOf)),
    narrow: sizesOf(VARIANTS.map(narrowOf)),
  };
  mkdirSync(dirname(sizesFile), { recursive: true });
  writeFileSync(sizesFile, `${JSON.stringify(sizes, null, 2)}\n`);
}

export function printSizes() {
  const sizes = JSON.parse(readFileSync(sizesFile, "utf8"));
  const kb = (/** @type {number} */ bytes) => `${(bytes / 1000).toFixed(1).padStart(5)} kB`;
  note(`  ${kb(sizes.index)} brotli  index.js (${kb(sizes.assets).trim()}: assets.js and its worker)`);
  note(`  ${kb(sizes.runners.shared)} brotli  shared-runner.js, or`);
  note(`  ${kb(sizes.runners.unshared)} brotli  unshared-runners.js`);
  note(`  ${kb(sizes.extra)} brotli  extra.js: everything but attention, on demand`);
  note(`  ${kb(sizes.text)} brotli  text.js: heed/text, beside index.js`);
  note(`  ${kb(sizes.layers)} brotli  layers.js: heed/layers, beside index.js`);
  note(`  ${kb(sizes.models)} brotli  models.js: heed/models, beside layers.js`);
  note(`  ${kb(sizes.train)} brotli  train.js: heed/train, beside layers.js`);
  note(`  ${kb(sizes.expr)} brotli  expr.js: heed/expr`);
  note(`  ${kb(sizes.viz)} brotli  viz.js: views as custom elements, alone`);
  note(`  ${kb(sizes.webgpu)} brotli  gpu.js: the GPU backend, for large calls or on demand`);
  const modules = { ...sizes.variants, ...sizes.full, ...sizes.training, ...sizes.narrow };
  for (const [name, { chunk, hosted }] of Object.entries(modules)) {
    note(`  ${kb(chunk)} brotli  ${name}.js: glue and wasm inlined (${kb(hosted).trim()} as two files)`);
  }
}
