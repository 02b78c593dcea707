// Configures and builds a CMake preset. It configures from scratch when the tools have changed.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../make/root.js";
import { OF_EMSCRIPTEN } from "../toolchain/compile-cache.js";
import { withLock } from "../toolchain/lock.js";
import { run } from "./steps.js";

/** @typedef {import("../toolchain/find.js").Toolchain<"wasm" | "native">} Tools */

/**
 * @param {Partial<Tools> & Pick<Tools, "cmake" | "env" | "additions">} toolchain
 * @param {string} preset
 * @param {readonly string[]} targets none: only configure
 * @returns {Promise<void>}
 */
export function buildPreset(toolchain, preset, targets) {
  return withLock(join(root, "build", `${preset}.lock`), () => buildAlone(toolchain, preset, targets));
}

/** @type {typeof buildPreset} */
async function buildAlone(toolchain, preset, targets) {
  const env = preset.startsWith("wasm") ? { ...toolchain.env, ...OF_EMSCRIPTEN } : toolchain.env;
  const options = { cwd: root, env };
  const folder = join(root, "build", preset);
  const stamp = join(folder, ".heed-tools");
  const launcher = toolchain.env.CMAKE_CXX_COMPILER_LAUNCHER;
  const tools = JSON.stringify([toolchain.emscripten, toolchain.native, toolchain.cmake, launcher]);
  // CMake caches the paths of compilers, and fails when they are gone.
  const isSame = read(stamp) === tools;
  await run(toolchain.cmake.path, ["--preset", preset, ...(isSame ? [] : ["--fresh"])], options);
  mkdirSync(folder, { recursive: true });
  writeFileSync(stamp, tools);
  if (targets.length === 0) return;
  await run(toolchain.cmake.path, ["--build", "--preset", preset, "--target", ...targets], options);
}

/** @param {string} file */
function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
