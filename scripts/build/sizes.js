// What a visitor downloads: brotli bytes of each variant as it is shipped, and of everything loaded beside it.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { note } from "../lib/steps.js";
import { artefact, VARIANTS } from "./artefacts.js";
import { dist } from "./bundle.js";
import { root } from "./root.js";

export const sizesFile = join(root, "build", "sizes.json");

/** @param {string} path */
function brotliBytes(path) {
  const bytes = readFileSync(path);
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return brotliCompressSync(bytes, { params }).length;
}

export function measureSizes() {
  const variants = Object.fromEntries(
    VARIANTS.map((variant) => [
      variant,
      {
        chunk: brotliBytes(join(dist, `${variant}.js`)),
        hosted: brotliBytes(join(dist, `glue-${variant}.js`)) + brotliBytes(artefact(variant, `${variant}.wasm`)),
      },
    ]),
  );
  const sizes = {
    index: brotliBytes(join(dist, "index.js")),
    reference: brotliBytes(join(dist, "reference.js")),
    assets: brotliBytes(join(dist, "assets.js")) + brotliBytes(join(dist, "assets", "worker.js")),
    variants,
  };
  mkdirSync(dirname(sizesFile), { recursive: true });
  writeFileSync(sizesFile, `${JSON.stringify(sizes, null, 2)}\n`);
}

export function printSizes() {
  const sizes = JSON.parse(readFileSync(sizesFile, "utf8"));
  const kb = (/** @type {number} */ bytes) => `${(bytes / 1000).toFixed(1).padStart(5)} kB`;
  note(`  ${kb(sizes.index)} brotli  index.js (${kb(sizes.assets).trim()}: assets.js and its worker)`);
  for (const [name, { chunk, hosted }] of Object.entries(sizes.variants)) {
    note(`  ${kb(chunk)} brotli  ${name}.js: glue and wasm inlined (${kb(hosted).trim()} as two files)`);
  }
}
