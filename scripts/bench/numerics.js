// How far results are from double precision: builds the package, and lets bench/numerics do the rest.

import { join } from "node:path";
import { build } from "../build.js";
import { run } from "../lib/steps.js";
import { root } from "../make/root.js";
import { nodeFlags } from "./program.js";

/** @param {readonly string[]} args */
export async function benchNumerics(args) {
  await build();
  const program = join(root, "bench", "numerics", "run.js");
  await run(process.execPath, [...nodeFlags("wasm-relaxed"), program, ...args], { cwd: root, quiet: false });
}
