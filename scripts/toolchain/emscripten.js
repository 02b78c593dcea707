// Finds Emscripten: the one that EMSDK names, the one on PATH, or the one in the private folder, with the environment
// that each needs.

import { existsSync, realpathSync } from "node:fs";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { run } from "../lib/steps.js";
import { remembered } from "./probes.js";
import { versionOf } from "./programs.js";
import { isProgram, onPath } from "./system.js";
import { atLeast, OLDEST } from "./versions.js";

/**
 * @typedef {object} Emscripten
 * @property {string} root the folder of its programs
 * @property {string} emcc
 * @property {string} emxx
 * @property {string} emcmake
 * @property {string} cmakeToolchainFile
 * @property {string} version
 * @property {string} origin "EMSDK", "system" or "private"
 * @property {Record<string, string>} env its variables beside PATH
 */

const TOOLCHAIN_FILE = "cmake/Modules/Platform/Emscripten.cmake";

/** @returns {Promise<{ found: Emscripten } | import("./programs.js").Problem>} */
export async function findEmscripten() {
  const wanted = `Emscripten ${OLDEST.emscripten} or newer`;
  const { EMSDK } = process.env;
  const candidates = [];
  if (EMSDK)
    candidates.push({ emcc: join(EMSDK, "upstream/emscripten/emcc"), origin: "EMSDK", env: sdkEnvironment(EMSDK) });
  const emcc = onPath("emcc");
  if (emcc !== undefined) candidates.push({ emcc, origin: "system", env: {} });

  const seen = [];
  for (const { emcc, origin, env } of candidates) {
    const version = isProgram(emcc) ? await versionOf(emcc) : undefined;
    if (version === undefined) seen.push(`${emcc} does not run`);
    else if (!atLeast(version, OLDEST.emscripten)) seen.push(`${emcc} is ${version}`);
    else {
      const root = await rootOf(emcc);
      if (root !== undefined) return { found: describe(root, version, origin, env) };
      seen.push(`${emcc} does not say where its CMake files are`);
    }
  }
  if (seen.length === 0) return { problem: `${wanted} is not on PATH, and EMSDK is not set` };
  return { problem: `${seen.join(", ")}; needed is ${wanted}`, ...(EMSDK ? { named: "EMSDK" } : {}) };
}

/** @param {string} sdk @returns {Record<string, string>} */
function sdkEnvironment(sdk) {
  const config = join(sdk, ".emscripten");
  return existsSync(config) ? { EM_CONFIG: config } : {};
}

/** A distribution's emcc may be a link or a small script that leads to the real folder. @param {string} emcc */
async function rootOf(emcc) {
  const beside = dirname(realpathSync(emcc));
  if (existsSync(join(beside, TOOLCHAIN_FILE))) return beside;
  const emConfig = join(dirname(emcc), "em-config");
  if (!isProgram(emConfig)) return undefined;
  const root = await remembered("EMSCRIPTEN_ROOT", [emConfig], async () =>
    (await run(emConfig, ["EMSCRIPTEN_ROOT"], { quiet: true }).catch(() => undefined))?.stdout.trim(),
  );
  return root !== undefined && existsSync(join(root, TOOLCHAIN_FILE)) ? root : undefined;
}

/**
 * @param {string} root
 * @param {string} version
 * @param {string} origin
 * @param {Record<string, string>} env
 * @returns {Emscripten}
 */
function describe(root, version, origin, env) {
  return {
    root,
    emcc: join(root, "emcc"),
    emxx: join(root, "em++"),
    emcmake: join(root, "emcmake"),
    cmakeToolchainFile: join(root, TOOLCHAIN_FILE),
    version,
    origin,
    env,
  };
}

const privateRoot = (/** @type {string} */ root) => join(root, "usr/share/emscripten");
const configOf = (/** @type {string} */ root) => join(root, "emscripten-config.py");

/**
 * Does what installing Debian's package would do, in the unpacked folder.
 * @param {string} folder where it lies now
 * @param {string} final its final folder
 */
export async function prepareEmscripten(folder, final) {
  // Its optimiser looks for acorn where npm would put it.
  await symlink("nodejs", join(folder, "usr/share/node_modules"));
  // --emit-tsd starts tsc beside Emscripten, where it finds these types, which need a newer language than Emscripten asks for.
  await rm(join(folder, "usr/share/nodejs/@types"), { recursive: true, force: true });
  const at = (/** @type {string} */ path) => JSON.stringify(join(final, path));
  await writeFile(
    configOf(folder),
    [
      "# Written by heed's scripts/toolchain. EM_NODE_JS in the environment names the Node to use.",
      `LLVM_ROOT = ${at("usr/lib/llvm-19/bin")}`,
      `BINARYEN_ROOT = ${at("usr")}`,
      `CACHE = ${at("usr/share/emscripten/cache")}`,
      "NODE_JS = 'node'",
      "# The package brings the system libraries built: nothing is ever written here.",
      "FROZEN_CACHE = True",
      "",
    ].join("\n"),
  );
}

/**
 * @param {string} root the private folder
 * @param {string} python
 * @returns {Promise<Emscripten>}
 */
export async function privateEmscripten(root, python) {
  const folder = privateRoot(root);
  const env = { EM_CONFIG: configOf(root), EM_NODE_JS: process.execPath, EMSDK_PYTHON: python };
  const version = (await readFile(join(folder, "emscripten-version.txt"), "utf8")).replaceAll(/["\s]/g, "");
  return describe(folder, version, "private", env);
}

/**
 * Compiles and links a minimal program, which takes the compiler, the linker, binaryen, the prebuilt libraries and Node.
 * @param {string} root the private folder
 * @param {string} python
 */
export async function tryEmscripten(root, python) {
  const { emcc, env } = await privateEmscripten(root, python);
  const folder = await mkdtemp(join(tmpdir(), "heed-probe-"));
  try {
    await writeFile(join(folder, "probe.cpp"), '#include <cstdio>\nint main() { std::puts("works"); }\n');
    await run(emcc, ["-O2", "probe.cpp", "-o", "probe.cjs"], { cwd: folder, env: { ...process.env, ...env } });
    await run(process.execPath, ["probe.cjs"], { cwd: folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
