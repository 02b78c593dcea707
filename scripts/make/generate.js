// Generates web/src/backends/wasm/generated from the artefacts: the glue of each variant, with and without its binary, types, offsets,
// and the worker as a string.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { Failure } from "../lib/steps.js";
import { artefact, BASELINE, MODULES, moduleFile, TYPES } from "./artefacts.js";
import { binaryText } from "./binary-text.js";
import { root } from "./root.js";
import { importedMemory } from "./wasm-binary.js";

const wasmRoom = join(root, "web/src/backends/wasm");
export const generated = join(wasmRoom, "generated");

const BANNER = "// Made by scripts/build.js: never edited, never committed.\n";

/** The inputs of `generate` beside this folder's own files. */
export const generateInputs = [
  ...MODULES.flatMap((name) => [moduleFile(name, "mjs"), moduleFile(name, "wasm")]),
  ...TYPES.map((file) => artefact(BASELINE, file)),
  ...["worker.ts", "protocol.ts", "done.ts", "../../memory/heap-view.ts"].map((file) => join(wasmRoom, file)),
];

export async function generate() {
  rmSync(generated, { recursive: true, force: true });
  mkdirSync(join(generated, "glue"), { recursive: true });
  for (const file of TYPES) copyFileSync(artefact(BASELINE, file), join(generated, file));
  for (const name of MODULES) {
    const bytes = readFileSync(moduleFile(name, "wasm"));
    writeFileSync(join(generated, "glue", `${name}.js`), glueModule(name, bytes));
    writeFileSync(join(generated, "glue", `${name}.d.ts`), GLUE_TYPES);
    writeFileSync(join(generated, `${name}.js`), inlinedModule(name, bytes));
    writeFileSync(join(generated, `${name}.d.ts`), moduleTypes(name));
  }
  const script = await workerScript();
  writeFileSync(join(generated, "worker.js"), script);
  writeFileSync(
    join(generated, "worker-source.ts"),
    `${BANNER}export const workerSource: string = ${JSON.stringify(script)};\n`,
  );
}

const GLUE_TYPES = `${BANNER}import type { Glue } from "../../variants.js";
declare const factory: Glue["default"];
export default factory;
export declare const importedMemory: Glue["importedMemory"];
`;

/** @param {string} name */
const moduleTypes = (name) => `${BANNER}export { default, importedMemory } from "./glue/${name}.js";
export declare const binary: string;
`;

/** @param {string} name @param {Uint8Array} bytes */
function glueModule(name, bytes) {
  const glue = readFileSync(moduleFile(name, "mjs"), "utf8");
  return [
    `${BANNER}// @ts-nocheck`,
    withoutQueries(name, glue),
    `export const importedMemory = ${JSON.stringify(importedMemory(bytes))};`,
    "",
  ].join("\n");
}

/** @param {string} name @param {Uint8Array} bytes */
const inlinedModule = (name, bytes) => `${BANNER}export { default, importedMemory } from "./glue/${name}.js";
export const binary = "${binaryText(bytes)}";
`;

/**
 * Removes the glue's queries of its own address, to fetch its binary from there, and of Node. heed always gives it the binary, and it
 * does the same everywhere. Without the queries bundlers search for no file and need no polyfill of Node's `process`, and transforms to
 * other module formats work.
 * @param {string} name @param {string} glue
 */
function withoutQueries(name, glue) {
  const address = /new URL\("[^"]*\.wasm", ?import\.meta\.url\)\.href/g;
  const inNode = /typeof process=="object"&&[^;]*process\.type!="renderer"/g;
  const code = glue.replaceAll(address, '""').replaceAll("import.meta.url", '""').replaceAll(inNode, "false");
  const forbidden = /import\.meta|\bprocess\b|new URL\(|new Function|\beval\(|\brequire\(|\bimport\(/.exec(code);
  if (forbidden !== null) throw new Failure(`the glue of ${name} contains ${forbidden[0]}`);
  return code;
}

/** Bundles worker.ts and its imports into one script. */
async function workerScript() {
  const result = await build({
    configFile: false,
    logLevel: "warn",
    root,
    build: {
      write: false,
      target: "es2022",
      minify: true,
      lib: { entry: join(wasmRoom, "worker.ts"), formats: ["iife"], name: "heedWorker" },
    },
  });
  const [bundle] = Array.isArray(result) ? result : [result];
  const chunk = "output" in bundle ? bundle.output[0] : undefined;
  if (chunk?.type !== "chunk") throw new Failure("the worker was not built into a script");
  return chunk.code;
}
