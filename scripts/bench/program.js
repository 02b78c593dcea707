// Builds a C++ bench by a preset and executes it: natively, or as WebAssembly in this Node.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { buildPreset } from "../lib/cmake.js";
import { note, run, step } from "../lib/steps.js";
import { root } from "../make/root.js";

export const PRESETS = ["native-release", "wasm-simd", "wasm-relaxed"];

/**
 * @param {import("../toolchain/find.js").Toolchain<"wasm" | "native" | "tests">} toolchain
 * @param {string} preset @param {string} folder under bench/ @param {string} target
 * @param {readonly string[]} args
 * @returns {Promise<string>} what it printed
 */
export async function runProgram(toolchain, preset, folder, target, args = []) {
  await step(`build ${target}, ${preset}`, () => buildPreset(toolchain, preset, [target]));
  const program = join(root, "build", preset, "bench", folder, target);
  const { stdout } = existsSync(`${program}.cjs`)
    ? await run(process.execPath, [...nodeFlags(preset), `${program}.cjs`, ...args], { cwd: root })
    : await run(program, args, { cwd: root });
  return stdout;
}

/** The flags with which this Node executes a preset's program. @param {string} preset */
export function nodeFlags(preset) {
  const isOldNode = Number(process.versions.node.split(".")[0]) < 21;
  if (preset !== "wasm-relaxed" || !isOldNode) return [];
  note("Node 20 compiles relaxed SIMD without its optimisations: measure it in Node 22 or later, or in a browser.");
  return ["--experimental-wasm-relaxed-simd"];
}
