// Builds the wasm artefacts by CMake. It builds only their own targets; other scripts build tests and benches.

import { join } from "node:path";
import { buildPreset } from "../lib/cmake.js";
import { step } from "../lib/steps.js";
import { whenChanged } from "./freshness.js";
import { root } from "./root.js";

export const VARIANTS = ["wasm-simd", "wasm-relaxed", "wasm-simd-threads", "wasm-relaxed-threads"];

/** A variant's module with attention and every other operation but those of training, which is loaded on demand. @param {string} variant */
export const fullOf = (variant) => `${variant}-full`;

/** A variant's module with those of training as well, likewise. @param {string} variant */
export const trainingOf = (variant) => `${variant}-training`;

/** A variant's module with every operation, those of stored weights included, likewise. @param {string} variant */
export const narrowOf = (variant) => `${variant}-narrow`;

/** @param {string} variant */
const modulesOf = (variant) => [variant, fullOf(variant), trainingOf(variant), narrowOf(variant)];

/** All modules, four for each variant. */
export const MODULES = VARIANTS.flatMap(modulesOf);

/** The variant whose build also makes the types. */
export const BASELINE = "wasm-simd";

/** The files that the baseline's build makes for TypeScript. */
export const TYPES = [
  "kernels.d.ts",
  "attention-call.ts",
  "operation-calls.ts",
  "program-call.ts",
  "kv-page.ts",
  "expression-program.ts",
];

/** @param {string} variant @param {string} file */
export const artefact = (variant, file) => join(root, "build", variant, file);

const KINDS = /** @type {const} */ (["mjs", "wasm", "map"]);

/** Glue, binary or linker's map of a module. @param {string} module @param {"mjs" | "wasm" | "map"} kind */
export const moduleFile = (module, kind) =>
  artefact(module.replace(/-(?:full|training|narrow)$/, ""), `${module}.${kind}`);

const SOURCES = ["CMakeLists.txt", "CMakePresets.json", "cmake", "cpp"].map((path) => join(root, path));

/** @param {import("../toolchain/find.js").Toolchain<"wasm">} toolchain */
export async function buildArtefacts(toolchain) {
  const salt = `${toolchain.emscripten.version} ${toolchain.xsimd.version} ${toolchain.cmake.version}`;
  for (const variant of VARIANTS) {
    const outputs = modulesOf(variant).flatMap((name) => KINDS.map((kind) => moduleFile(name, kind)));
    if (variant === BASELINE) outputs.push(...TYPES.map((file) => artefact(variant, file)));
    await whenChanged(variant, { inputs: SOURCES, outputs, salt }, () =>
      step(`build ${variant}`, async () => {
        const types = variant === BASELINE ? ["heed_call_types"] : [];
        const targets = ["heed_wasm_core", "heed_wasm_full", "heed_wasm_training", "heed_wasm_narrow", ...types];
        await buildPreset(toolchain, variant, targets);
      }),
    );
  }
}
