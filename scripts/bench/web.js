// The bench in Chromium: builds the package and the peak loops, installs the peers, and lets bench/web do the rest.

import { join } from "node:path";
import { build } from "../build.js";
import { buildPreset } from "../lib/cmake.js";
import { ensureDependencies } from "../lib/dependencies.js";
import { run, step } from "../lib/steps.js";
import { root } from "../make/root.js";
import { findToolchain } from "../toolchain/find.js";

const web = join(root, "bench", "web");

/** @param {string} script @param {readonly string[]} args */
export async function benchWeb(script, args) {
  await ensureDependencies(web);
  const toolchain = await step("find the toolchain", () => findToolchain({ need: ["wasm", "tests", "chromium"] }));
  await build({ toolchain });
  await step("build the peak loops", async () => {
    for (const preset of ["wasm-simd", "wasm-relaxed"]) await buildPreset(toolchain, preset, ["heed_peaks"]);
  });
  await runPage(script, toolchain, args);
}

/** Those without peak loops. @param {string} script @param {readonly string[]} args */
export async function benchPages(script, args) {
  const toolchain = await step("find the toolchain", () => findToolchain({ need: ["wasm", "tests", "chromium"] }));
  await build({ toolchain });
  await ensureDependencies(web);
  await runPage(script, toolchain, args);
}

/** @param {string} script @param {{ env: NodeJS.ProcessEnv }} toolchain @param {readonly string[]} args */
async function runPage(script, { env }, args) {
  await run(process.execPath, [join(web, script), ...args], { cwd: root, env, quiet: false });
}
