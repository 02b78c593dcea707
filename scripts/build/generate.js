// Artefacts -> web/src/backends/wasm/generated: a module per variant with glue and binary, types, offsets, the worker as a string.

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
  mkdirSync(generated, { recursive: true });
  copyFileSync(artefact(BASELINE, "kernels.d.ts"), join(generated, "kernels.d.ts"));
  copyFileSync(artefact(BASELINE, "attention-call.ts"), join(generated, "attention-call.ts"));
  for (const variant of VARIANTS) {
    writeFileSync(join(generated, `${variant}.js`), variantModule(variant));
    writeFileSync(join(generated, `${variant}.d.ts`), VARIANT_TYPES);
  }
  const script = await workerScript();
  writeFileSync(join(generated, "worker.js"), script);
  writeFileSync(
    join(generated, "worker-source.ts"),
    `${BANNER}export const workerSource: string = ${JSON.stringify(script)};\n`,
  );
}

const VARIANT_TYPES = `${BANNER}import type { Variant } from "../variants.js";
declare const factory: Variant["default"];
export default factory;
export declare const binary: Variant["binary"];
export declare const importedMemory: Variant["importedMemory"];
`;

/** @param {string} variant */
function variantModule(variant) {
  const bytes = readFileSync(artefact(variant, `${variant}.wasm`));
  const glue = readFileSync(artefact(variant, `${variant}.mjs`), "utf8");
  return [
    `${BANNER}// @ts-nocheck`,
    withoutOwnAddress(variant, glue),
    `export const binary = "${bytes.toString("base64")}";`,
    `export const importedMemory = ${JSON.stringify(importedMemory(bytes))};`,
    "",
  ].join("\n");
}

/**
 * The glue asks where it lies, to fetch its binary from there; here it is always given one. Without the question, bundlers find
 * no file to look for, and transforms to other module formats work.
 * @param {string} variant @param {string} glue
 */
function withoutOwnAddress(variant, glue) {
  const address = /new URL\("[^"]*\.wasm", ?import\.meta\.url\)\.href/g;
  const code = glue.replaceAll(address, '""').replaceAll("import.meta.url", '""');
  const forbidden = /import\.meta|new URL\(|new Function|\beval\(|\brequire\(|\bimport\(/.exec(code);
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
