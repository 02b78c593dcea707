// Artefacts -> web/src/backends/wasm/generated: the glue of each variant, with and without its binary, types, offsets, the worker as a string.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { Failure } from "../lib/steps.js";
import { artefact, BASELINE, VARIANTS } from "./artefacts.js";
import { root } from "./root.js";
import { importedMemory } from "./wasm-binary.js";

const wasmRoom = join(root, "web/src/backends/wasm");
export const generated = join(wasmRoom, "generated");

const BANNER = "// Made by scripts/build.js: never edited, never committed.\n";

/** What `generate` reads beside this folder's own files. */
export const generateInputs = [
  ...VARIANTS.flatMap((variant) => [artefact(variant, `${variant}.mjs`), artefact(variant, `${variant}.wasm`)]),
  artefact(BASELINE, "kernels.d.ts"),
  artefact(BASELINE, "attention-call.ts"),
  join(wasmRoom, "worker.ts"),
  join(wasmRoom, "protocol.ts"),
];

export async function generate() {
  rmSync(generated, { recursive: true, force: true });
  mkdirSync(join(generated, "glue"), { recursive: true });
  copyFileSync(artefact(BASELINE, "kernels.d.ts"), join(generated, "kernels.d.ts"));
  copyFileSync(artefact(BASELINE, "attention-call.ts"), join(generated, "attention-call.ts"));
  for (const variant of VARIANTS) {
    const bytes = readFileSync(artefact(variant, `${variant}.wasm`));
    writeFileSync(join(generated, "glue", `${variant}.js`), glueModule(variant, bytes));
    writeFileSync(join(generated, "glue", `${variant}.d.ts`), GLUE_TYPES);
    writeFileSync(join(generated, `${variant}.js`), variantModule(variant, bytes));
    writeFileSync(join(generated, `${variant}.d.ts`), variantTypes(variant));
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

/** @param {string} variant */
const variantTypes = (variant) => `${BANNER}export { default, importedMemory } from "./glue/${variant}.js";
export declare const binary: string;
`;

/** @param {string} variant @param {Uint8Array} bytes */
function glueModule(variant, bytes) {
  const glue = readFileSync(artefact(variant, `${variant}.mjs`), "utf8");
  return [
    `${BANNER}// @ts-nocheck`,
    withoutQuestions(variant, glue),
    `export const importedMemory = ${JSON.stringify(importedMemory(bytes))};`,
    "",
  ].join("\n");
}

/**
 * In hexadecimal: twice the bytes, but of the text forms that engines decode by themselves the one that compresses as its bytes do.
 * Base64 lays three bytes across four characters, which hides what repeats: a third more after compression.
 * @param {string} variant @param {Buffer} bytes
 */
const variantModule = (variant, bytes) => `${BANNER}export { default, importedMemory } from "./glue/${variant}.js";
export const binary = "${bytes.toString("hex")}";
`;

/**
 * The glue asks where it lies, to fetch its binary from there, and whether it is in Node: here it is always given the binary, and
 * does the same everywhere. Without the questions bundlers find no file to look for and no need for a stand-in for Node's
 * `process`, and transforms to other module formats work.
 * @param {string} variant @param {string} glue
 */
function withoutQuestions(variant, glue) {
  const address = /new URL\("[^"]*\.wasm", ?import\.meta\.url\)\.href/g;
  const inNode = /typeof process=="object"&&[^;]*process\.type!="renderer"/g;
  const code = glue.replaceAll(address, '""').replaceAll("import.meta.url", '""').replaceAll(inNode, "false");
  const forbidden = /import\.meta|\bprocess\b|new URL\(|new Function|\beval\(|\brequire\(|\bimport\(/.exec(code);
  if (forbidden !== null) throw new Failure(`the glue of ${variant} contains ${forbidden[0]}`);
  return code;
}

/** worker.ts and what it imports, as one script. */
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
