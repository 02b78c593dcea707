// The bench in Chromium: builds the package and the ceilings, installs the peers, and lets bench/web do the rest.

import { join } from "node:path";
import { build } from "../build.js";
import { buildPreset } from "../lib/cmake.js";
import { ensureDependencies } from "../lib/dependencies.js";
import { run, step } from "../lib/steps.js";
import { root } from "../make/root.js";
import { findToolchain } from "../toolchain/find.js";

const web = join(root, "bench", "web");

/** @param {readonly string[]} args */
export async function benchWeb(args) {
  const toolchain = await step("find the toolchain", () => findToolchain({ need: ["wasm", "tests", "chromium"] }));
  await build({ toolchain });
  await step("build the ceilings", async () => {
    for (const preset of ["wasm-simd", "wasm-relaxed"]) await buildPreset(toolchain, preset, ["heed_ceilings"]);
  });
  await ensureDependencies(web);
  await run(process.execPath, [join(web, "run.js"), ...args], { cwd: root, env: toolchain.env, quiet: false });
}
