// The four wasm artefacts, by CMake. Only their own targets are built: tests and benches are other scripts' business.

import { join } from "node:path";
import { buildPreset } from "../lib/cmake.js";
import { step } from "../lib/steps.js";
import { whenChanged } from "./freshness.js";
import { root } from "./root.js";

export const VARIANTS = ["wasm-simd", "wasm-relaxed", "wasm-simd-threads", "wasm-relaxed-threads"];

/** The variant whose build also makes the types. */
export const BASELINE = "wasm-simd";

/** @param {string} variant @param {string} file */
export const artefact = (variant, file) => join(root, "build", variant, file);

const SOURCES = ["CMakeLists.txt", "CMakePresets.json", "cmake", "cpp"].map((path) => join(root, path));

/** @param {import("../toolchain/find.js").Toolchain<"wasm">} toolchain */
export async function buildArtefacts(toolchain) {
  const salt = `${toolchain.emscripten.version} ${toolchain.xsimd.version} ${toolchain.cmake.version}`;
  for (const variant of VARIANTS) {
    const outputs = [artefact(variant, `${variant}.mjs`), artefact(variant, `${variant}.wasm`)];
    if (variant === BASELINE) outputs.push(artefact(variant, "kernels.d.ts"), artefact(variant, "attention-call.ts"));
    await whenChanged(variant, { inputs: SOURCES, outputs, salt }, () =>
      step(`build ${variant}`, async () => {
        const targets = variant === BASELINE ? ["heed_wasm", "heed_call_types"] : ["heed_wasm"];
        await buildPreset(toolchain, variant, targets);
      }),
    );
  }
}
