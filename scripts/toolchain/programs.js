// Searches for programs that are judged by their version alone: CMake, Ninja, Python, ccache, clang-format and clang-tidy.
// Compilers have files of their own.

import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { Failure, run } from "../lib/steps.js";
import { remembered } from "./probes.js";
import { onPath } from "./system.js";
import { atLeast, CLANG_TOOLS_MAJOR, OLDEST } from "./versions.js";

/** @typedef {{ path: string, version: string, origin: string }} Program origin: "system", "private", or the variable that named it */
/** @typedef {{ problem: string, named?: string }} Problem named: the variable that named an unsuitable program */
/** @typedef {{ found: Program } | Problem} Search */

/** The first version number in what a program prints about itself. */
const VERSION = /\b(\d+\.\d+(?:\.\d+)?)/;

/**
 * @param {string} path
 * @param {string[]} args
 * @returns {Promise<string | undefined>} undefined when it does not run
 */
export async function versionOf(path, args = ["--version"]) {
  return remembered(`version ${args.join(" ")}`, [path], async () => {
    const printed = await run(path, args, { quiet: true }).catch(() => undefined);
    return printed === undefined ? undefined : VERSION.exec(printed.output)?.[1];
  });
}

/**
 * @param {string[]} names
 * @param {(version: string) => boolean} accept
 * @param {string} wanted for the message
 * @returns {Promise<Search>}
 */
async function search(names, accept, wanted) {
  const seen = [];
  for (const name of names) {
    const path = onPath(name);
    if (path === undefined) continue;
    const version = await versionOf(path);
    if (version !== undefined && accept(version)) return { found: { path, version, origin: "system" } };
    seen.push(version === undefined ? `${path} does not run` : `${path} is ${version}`);
  }
  return { problem: seen.length === 0 ? `${wanted} is not on PATH` : `${seen.join(", ")}; needed is ${wanted}` };
}

export const findCmake = () =>
  search(["cmake"], (version) => atLeast(version, OLDEST.cmake), `CMake ${OLDEST.cmake} or newer`);

export const findNinja = () =>
  search(["ninja", "ninja-build"], (version) => atLeast(version, OLDEST.ninja), `Ninja ${OLDEST.ninja} or newer`);

export const findCcache = () => search(["ccache"], () => true, "ccache");

/** @returns {Promise<Search>} */
export async function findPython() {
  const result = await search(
    ["python3", "python"],
    (version) => atLeast(version, OLDEST.python),
    `Python ${OLDEST.python} or newer`,
  );
  if (!("found" in result)) return result;
  // A version manager's shim decides by folder which Python it starts: name the one it starts here. Debian's python3-minimal lacks
  // most of the library.
  const { path } = result.found;
  const executable = await remembered("executable, with its library", [path], async () => {
    const program = "import subprocess, sys, tempfile; print(sys.executable)";
    const printed = await run(path, ["-c", program], { quiet: true }).catch(() => undefined);
    return printed?.stdout.trim();
  });
  if (executable === undefined) return { problem: `${path} has no standard library` };
  return { found: { ...result.found, path: executable } };
}

/** @param {"clang-format" | "clang-tidy"} name @returns {Promise<Search>} */
export const findClangTool = (name) =>
  search(
    [`${name}-${CLANG_TOOLS_MAJOR}`, name],
    (version) => version.startsWith(`${CLANG_TOOLS_MAJOR}.`),
    `${name} ${CLANG_TOOLS_MAJOR} (exactly: other versions format differently)`,
  );

/** The programs of the private usr/bin that a piece puts on PATH, by their names there. */
export const PROGRAMS = {
  cmake: { cmake: "cmake", ctest: "ctest" },
  ninja: { ninja: "ninja" },
  python: { python3: "python3" },
  ccache: { ccache: "ccache" },
  format: {
    "clang-format": `clang-format-${CLANG_TOOLS_MAJOR}`,
    "clang-tidy": `clang-tidy-${CLANG_TOOLS_MAJOR}`,
  },
};

/**
 * Gives each piece a folder for PATH with its own programs only: the whole private usr/bin there would put a foreign
 * linker before the system's compiler.
 * @param {string} folder
 * @param {readonly string[]} pieces
 */
export async function preparePrograms(folder, pieces) {
  for (const [piece, programs] of Object.entries(PROGRAMS)) {
    if (!pieces.includes(piece)) continue;
    const path = join(folder, "programs", piece);
    await mkdir(path, { recursive: true });
    for (const [name, target] of Object.entries(programs)) await symlink(`../../usr/bin/${target}`, join(path, name));
  }
}

/**
 * @param {string} root the private folder
 * @param {keyof typeof PROGRAMS} piece
 * @param {string} name
 * @returns {Promise<Program>}
 */
export async function privateProgram(root, piece, name) {
  const path = join(root, "programs", piece, name);
  const version = await versionOf(path);
  if (version === undefined) throw new Failure(`${path} was unpacked but does not run`);
  return { path, version, origin: "private" };
}
