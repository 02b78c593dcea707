// Finds the sources that are compiled into heed or its tests: xsimd, Catch2's amalgamated file, and nlohmann's JSON
// (for the tests only).

import { existsSync, readFileSync } from "node:fs";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { run } from "../lib/steps.js";
import { finishedEntries, hashOf, makeEntry } from "./cache.js";
import { PrivateApt } from "./debian.js";
import { atLeast, CATCH2_VERSION, DEBIAN_SUITE, OLDEST, SCHEME } from "./versions.js";

/** @typedef {{ includeDir: string, cmakePrefix: string, cmakeDir: string, version: string, origin: string }} Headers */
/** @typedef {{ sourceDir: string, version: string, origin: string }} Catch2 */
/** @typedef {import("./programs.js").Problem} Problem */
/** @typedef {{ name: string, variable: string, cmakeName: string, target: string, header: string, macros: string, oldest: string }} Library */

/** @type {Library} */
export const XSIMD = {
  name: "xsimd",
  variable: "XSIMD_ROOT",
  cmakeName: "xsimd",
  target: "xsimd",
  header: "xsimd/config/xsimd_config.hpp",
  macros: "XSIMD_VERSION_",
  oldest: OLDEST.xsimd,
};

/** @type {Library} */
export const JSON_LIBRARY = {
  name: "nlohmann-json",
  variable: "NLOHMANN_JSON_ROOT",
  cmakeName: "nlohmann_json",
  target: "nlohmann_json::nlohmann_json",
  header: "nlohmann/detail/abi_macros.hpp",
  macros: "NLOHMANN_JSON_VERSION_",
  oldest: OLDEST.json,
};

const PREFIXES = ["/usr/local", "/opt/homebrew", "/usr"];

/**
 * @param {Library} library
 * @returns {Promise<{ found: Headers } | Problem>}
 */
export async function findHeaders(library) {
  const named = process.env[library.variable];
  const seen = [];
  for (const prefix of named ? [named] : PREFIXES) {
    const header = join(prefix, "include", library.header);
    const version = existsSync(header) ? versionIn(header, library.macros) : undefined;
    if (version === undefined) continue;
    if (atLeast(version, library.oldest)) {
      const view = await viewOf(library, prefix, version);
      return { found: { ...view, origin: named ? library.variable : "system" } };
    }
    seen.push(`${header} is ${version}`);
  }
  const wanted = `${library.name} ${library.oldest} or newer`;
  if (named)
    return {
      problem: `${seen[0] ?? `${named} has no include/${library.header}`}; needed is ${wanted}`,
      named: library.variable,
    };
  return {
    problem:
      seen.length === 0
        ? `${wanted} is not installed, and ${library.variable} is not set`
        : `${seen.join(", ")}; needed is ${wanted}`,
  };
}

/** @param {string} header @param {string} macros */
function versionIn(header, macros) {
  const text = readFileSync(header, "utf8");
  const parts = ["MAJOR", "MINOR", "PATCH"].map(
    (part) => new RegExp(`define\\s+${macros}${part}\\s+(\\d+)`).exec(text)?.[1],
  );
  return parts.includes(undefined) ? undefined : parts.join(".");
}

/**
 * Makes a folder that holds this library's headers and nothing else: a system's include folder would bring the system's
 * C library to Emscripten.
 * @param {Library} library
 * @param {string} prefix
 * @param {string} version
 * @returns {Promise<Omit<Headers, "origin">>}
 */
async function viewOf(library, prefix, version) {
  const top = dirname(library.header).split("/")[0] ?? "";
  const target = join(prefix, "include", top);
  const name = `headers-${library.name}-${hashOf([SCHEME, target, version])}`;
  const find = async () => {
    const [entry] = await finishedEntries(name);
    return entry === undefined ? undefined : layout(library, entry.folder, version);
  };
  return (
    (await find()) ??
    makeEntry({
      name,
      find,
      fill: async (folder) => {
        await mkdir(join(folder, "include"));
        await symlink(target, join(folder, "include", top));
        await writeCmakePackage(library, folder, version);
        return { library: library.name, version, target };
      },
    })
  );
}

/**
 * Writes the files that find_package reads. Debian's own file for xsimd asks for a second library, which only complex numbers need.
 * @param {Library} library
 * @param {string} prefix
 * @param {string} version
 */
async function writeCmakePackage({ cmakeName, target }, prefix, version) {
  const folder = join(prefix, "share/cmake", cmakeName);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, `${cmakeName}Config.cmake`),
    [
      `if(NOT TARGET ${target})`,
      `  add_library(${target} INTERFACE IMPORTED)`,
      `  target_include_directories(${target} INTERFACE "\${CMAKE_CURRENT_LIST_DIR}/../../../include")`,
      "endif()",
      "",
    ].join("\n"),
  );
  await writeFile(
    join(folder, `${cmakeName}ConfigVersion.cmake`),
    [
      `set(PACKAGE_VERSION ${version})`,
      "if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION)",
      "  set(PACKAGE_VERSION_COMPATIBLE TRUE)",
      "endif()",
      "",
    ].join("\n"),
  );
}

/**
 * @param {Library} library
 * @param {string} prefix
 * @param {string} version
 */
function layout(library, prefix, version) {
  return {
    includeDir: join(prefix, "include"),
    cmakePrefix: prefix,
    cmakeDir: join(prefix, "share/cmake", library.cmakeName),
    version,
  };
}

/** @returns {{ found: Catch2 } | Problem} */
export function findCatch2() {
  const named = process.env.CATCH2_SOURCE;
  if (!named)
    return {
      problem: `the source of Catch2 ${CATCH2_VERSION} is not here: unpack it and set CATCH2_SOURCE to its folder`,
    };
  for (const sourceDir of [named, join(named, "extras")]) {
    const header = join(sourceDir, "catch_amalgamated.hpp");
    const version = existsSync(header) ? versionIn(header, "CATCH_VERSION_") : undefined;
    if (version === CATCH2_VERSION) return { found: { sourceDir, version, origin: "CATCH2_SOURCE" } };
  }
  return {
    problem: `CATCH2_SOURCE is ${named}, which does not hold Catch2 ${CATCH2_VERSION}'s catch_amalgamated.hpp`,
    named: "CATCH2_SOURCE",
  };
}

/** @typedef {{ xsimd: Headers, json: Headers, catch2: Catch2 }} Sources */

/** Fetches the three from Debian, about 2 MB. @returns {Promise<Sources>} */
export async function privateSources() {
  const name = `sources-${hashOf([SCHEME, DEBIAN_SUITE, CATCH2_VERSION, "own CMake packages"])}`;
  const find = async () => {
    const [entry] = await finishedEntries(name);
    return entry === undefined ? undefined : describe(entry.folder);
  };
  return (await find()) ?? makeEntry({ name, find, fill: fillSources });
}

/** @param {string} folder @returns {Sources} */
function describe(folder) {
  const usr = join(folder, "usr");
  const of = (/** @type {Library} */ library) => ({
    ...layout(library, usr, versionIn(join(usr, "include", library.header), library.macros) ?? ""),
    origin: "private",
  });
  return {
    xsimd: of(XSIMD),
    json: of(JSON_LIBRARY),
    catch2: { sourceDir: join(folder, "catch2"), version: CATCH2_VERSION, origin: "private" },
  };
}

/** @param {string} folder */
async function fillSources(folder) {
  const aptFolder = join(folder, "apt");
  const apt = await PrivateApt.open(aptFolder, { "xtl-dev": "99" });
  const closure = await apt.closure(["libxsimd-dev", "nlohmann-json3-dev"]);
  await apt.unpack(closure, folder);
  for (const library of [XSIMD, JSON_LIBRARY]) {
    const prefix = join(folder, "usr");
    await writeCmakePackage(library, prefix, versionIn(join(prefix, "include", library.header), library.macros) ?? "");
  }
  const version = await apt.sourceVersion("catch2", CATCH2_VERSION);
  const archive = await apt.source(`catch2=${version}`);
  await run("tar", ["-xf", archive, "-C", folder]);
  await rename(join(folder, `Catch2-${CATCH2_VERSION}`, "extras"), join(folder, "catch2"));
  await rm(join(folder, `Catch2-${CATCH2_VERSION}`), { recursive: true });
  await rm(aptFolder, { recursive: true });
  return { suite: DEBIAN_SUITE, packages: [...closure.packages, `catch2=${version}`] };
}
