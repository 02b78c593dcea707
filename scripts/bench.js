// Measures: the C++ bench natively and as WebAssembly in Node. Figures are medians, each beside its own ceiling.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./build/root.js";
import { buildPreset } from "./lib/cmake.js";
import { ensureDependencies } from "./lib/dependencies.js";
import { note, run, step } from "./lib/steps.js";
import { findToolchain } from "./toolchain/find.js";

await ensureDependencies();
const toolchain = await step("find the toolchain", () => findToolchain({ need: ["wasm", "native", "tests"] }));
for (const preset of ["native-release", "wasm-simd", "wasm-relaxed"]) {
  await step(`build heed_bench, ${preset}`, () => buildPreset(toolchain, preset, ["heed_bench"]));
  const program = join(root, "build", preset, "bench", "cpp", "heed_bench");
  const { output } = existsSync(`${program}.cjs`)
    ? await run(process.execPath, [...nodeFlags(preset), `${program}.cjs`], { cwd: root })
    : await run(program, [], { cwd: root });
  note(`\n${output}`);
}

/** @param {string} preset */
function nodeFlags(preset) {
  const isOldNode = Number(process.versions.node.split(".")[0]) < 21;
  if (preset !== "wasm-relaxed" || !isOldNode) return [];
  note("Node 20 compiles relaxed SIMD without its optimisations: measure it in Node 22 or later, or in a browser.");
  return ["--experimental-wasm-relaxed-simd"];
}
