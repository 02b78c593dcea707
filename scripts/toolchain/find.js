// The entry point of the toolchain: it takes what a script needs, and returns the tools that were chosen, their origins, and the
// environment for them. The files beside this one search and unpack.

import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Failure, note } from "../lib/steps.js";
import { findChromium, findFirefox, findWebkit } from "./browsers.js";
import { compileCache } from "./compile-cache.js";
import { whyNoDebian } from "./debian.js";
import { findEmscripten, privateEmscripten } from "./emscripten.js";
import { missingMessage } from "./missing.js";
import { findNative, privateNative } from "./native.js";
import { privateTools } from "./private.js";
import { findCcache, findClangTool, findCmake, findNinja, findPython, privateProgram } from "./programs.js";
import { findCatch2, findHeaders, JSON_LIBRARY, privateSources, XSIMD } from "./sources.js";
import { PIECES } from "./versions.js";

/** @typedef {import("./programs.js").Program} Program */
/** @typedef {import("./emscripten.js").Emscripten} Emscripten */
/** @typedef {import("./native.js").Native} Native */
/** @typedef {import("./sources.js").Headers} Headers */
/** @typedef {import("./sources.js").Catch2} Catch2 */
/** @typedef {import("./versions.js").Piece} Piece */

/**
 * What each need puts into the record.
 * @typedef {object} Parts
 * @property {{ emscripten: Emscripten, python: Program, cmake: Program, ninja: Program, ccache?: Program, xsimd: Headers }} wasm
 * @property {{ native: Native, cmake: Program, ninja: Program, ccache?: Program, xsimd: Headers }} native
 * @property {{ catch2: Catch2, json: Headers }} tests
 * @property {{ clangFormat: Program, clangTidy: Program }} format
 * @property {{ chromium: Program }} chromium
 * @property {{ firefox: Program }} firefox
 * @property {{ webkit: import("./browsers.js").WebKit }} webkit
 */
/** @typedef {keyof Parts} Need */
/** @typedef {{ node: Program, additions: Record<string, string>, env: NodeJS.ProcessEnv }} Common */
/**
 * @template U
 * @typedef {(U extends unknown ? (part: U) => void : never) extends (all: infer I) => void ? I : never} Intersection
 */
/**
 * The record: `env` is for child processes (this process's own environment with `additions` on top).
 * @template {Need} N
 * @typedef {Common & Intersection<Parts[N]>} Toolchain
 */
/** @typedef {Partial<Intersection<Parts[Need]>>} Chosen */
/** @typedef {{ found: unknown } | import("./programs.js").Problem} Search */

/** @type {readonly Need[]} */
export const ALL_NEEDS = ["wasm", "native", "tests", "format", "chromium", "firefox", "webkit"];

/** @type {Record<Need, readonly (keyof Chosen)[]>} */
const NAMES = {
  wasm: ["emscripten", "python", "cmake", "ninja", "ccache", "xsimd"],
  native: ["native", "cmake", "ninja", "ccache", "xsimd"],
  tests: ["catch2", "json"],
  format: ["clangFormat", "clangTidy"],
  chromium: ["chromium"],
  firefox: ["firefox"],
  webkit: ["webkit"],
};

/** Browsers are never fetched privately: they are found, installed by the system's package manager, or left for a person to install. @type {readonly (keyof Chosen)[]} */
const BROWSERS = ["chromium", "firefox", "webkit"];

/** Tools that a build can do without, where they are missing and cannot be fetched. @type {readonly (keyof Chosen)[]} */
const OPTIONAL = ["ccache"];

/** Searches the machine itself for each tool. @type {Record<keyof Chosen, () => Search | Promise<Search>>} */
const ON_THE_MACHINE = {
  emscripten: findEmscripten,
  native: findNative,
  cmake: findCmake,
  ninja: findNinja,
  python: findPython,
  ccache: findCcache,
  clangFormat: () => findClangTool("clang-format"),
  clangTidy: () => findClangTool("clang-tidy"),
  xsimd: () => findHeaders(XSIMD),
  json: () => findHeaders(JSON_LIBRARY),
  catch2: findCatch2,
  chromium: findChromium,
  firefox: findFirefox,
  webkit: findWebkit,
};

/** The piece that provides a tool; the other names are sources or browsers. @type {Partial<Record<keyof Chosen, Piece>>} */
const PIECE_OF = {
  emscripten: "emscripten",
  native: "native",
  cmake: "cmake",
  ninja: "ninja",
  python: "python",
  ccache: "ccache",
  clangFormat: "format",
  clangTidy: "format",
};

/**
 * Finds, and where needed fetches, the tools of the needs. A tool of the machine is preferred when it is new enough.
 * @template {Need} N
 * @param {{ need: readonly N[], log?: (line: string) => void }} request
 * @returns {Promise<Toolchain<N>>}
 * @throws {Failure} naming everything that is missing and how to get it
 */
export async function findToolchain({ need, log = note }) {
  const names = [...new Set(need.flatMap((one) => NAMES[one]))];
  const { chosen, problems } = await lookFor(names);
  const optional = OPTIONAL.filter((name) => name in problems);
  for (const name of optional) delete problems[name];
  const unmet = /** @type {(keyof Chosen)[]} */ (Object.keys(problems));

  const fetchable = unmet.filter((name) => !BROWSERS.includes(name));
  const obstacle = fetchable.length === 0 ? undefined : await whyNoDebian();
  if (obstacle !== undefined) throw new Failure(missingMessage(problems, obstacle));
  // The other tools are fetched below; a person has to install browsers.
  const browsers = Object.fromEntries(
    Object.entries(problems).filter(([name]) => BROWSERS.some((one) => one === name)),
  );
  if (Object.keys(browsers).length > 0) throw new Failure(missingMessage(browsers, undefined));
  for (const name of fetchable) {
    const { named, problem } = problems[name] ?? {};
    if (named !== undefined) log(`  ${named} is set, but ${problem}: another ${name} is used instead`);
  }
  if (fetchable.length > 0) await fetchInto(chosen, fetchable, lackingPieces);
  for (const name of optional) {
    try {
      if ((await whyNoDebian()) === undefined) await fetchInto(chosen, [name], async () => []);
    } catch {
      log(`  ${name.padEnd(12)} cannot be fetched: builds go without`);
    }
  }

  const additions = environment(chosen);
  const node = { path: process.execPath, version: process.versions.node, origin: "this one" };
  for (const name of names) if (!OPTIONAL.includes(name) || name in chosen) log(lineFor(name, chosen[name]));
  log(lineFor("node", node));
  const record = { ...chosen, node, additions, env: { ...process.env, ...additions } };
  // Every name of the needs is in the record by now, which the type checker cannot see.
  return /** @type {Toolchain<N>} */ (/** @type {unknown} */ (record));
}

/** @param {readonly (keyof Chosen)[]} names */
async function lookFor(names) {
  /** @type {Chosen} */
  const chosen = {};
  /** @type {Partial<Record<keyof Chosen, import("./programs.js").Problem>>} */
  const problems = {};
  for (const name of names) {
    const result = await ON_THE_MACHINE[name]();
    if ("found" in result) Object.assign(chosen, { [name]: result.found });
    else problems[name] = result;
  }
  return { chosen, problems };
}

/**
 * @param {Chosen} chosen
 * @param {readonly (keyof Chosen)[]} unmet
 * @param {() => Promise<readonly Piece[]>} lacking
 */
async function fetchInto(chosen, unmet, lacking) {
  const pieces = [...new Set(unmet.flatMap((name) => PIECE_OF[name] ?? []))];
  if (unmet.some((name) => PIECE_OF[name] === undefined)) {
    const sources = await privateSources();
    for (const name of /** @type {const} */ (["xsimd", "json", "catch2"])) {
      if (unmet.includes(name)) Object.assign(chosen, { [name]: sources[name] });
    }
  }
  if (pieces.length === 0) return;
  const root = await privateTools(pieces, lacking);
  for (const name of /** @type {const} */ (["cmake", "ninja", "ccache"])) {
    if (unmet.includes(name)) chosen[name] = await privateProgram(root, name, name);
  }
  if (unmet.includes("python")) chosen.python = await privateProgram(root, "python", "python3");
  if (unmet.includes("clangFormat")) chosen.clangFormat = await privateProgram(root, "format", "clang-format");
  if (unmet.includes("clangTidy")) chosen.clangTidy = await privateProgram(root, "format", "clang-tidy");
  if (unmet.includes("native")) chosen.native = await privateNative(root);
  if (unmet.includes("emscripten")) chosen.emscripten = await privateEmscripten(root, chosen.python?.path ?? "python3");
}

/** Every piece that this machine lacks: one download brings them all, also for later scripts with other needs. */
async function lackingPieces() {
  const names = /** @type {(keyof Chosen)[]} */ (Object.keys(PIECE_OF));
  const { problems } = await lookFor(names);
  const lacking = new Set(Object.keys(problems).map((name) => PIECE_OF[/** @type {keyof Chosen} */ (name)]));
  return /** @type {Piece[]} */ (Object.keys(PIECES)).filter((piece) => lacking.has(piece));
}

/** Additions to this process's environment for child processes. @param {Chosen} chosen */
function environment(chosen) {
  const { emscripten, native, xsimd, json, catch2 } = chosen;
  const folders = [
    emscripten?.root,
    // For Emscripten's --emit-tsd, which runs tsc.
    emscripten === undefined ? undefined : fileURLToPath(new URL("../../node_modules/.bin", import.meta.url)),
    ...[chosen.python, chosen.cmake, chosen.ninja, chosen.clangFormat].map((program) =>
      program?.origin === "private" ? dirname(program.path) : undefined,
    ),
  ].filter((folder) => folder !== undefined);
  /** @type {Record<string, string>} */
  const additions = { ...compileCache(chosen.ccache), ...emscripten?.env, ...native?.env };
  additions.PATH = [...new Set(folders), process.env.PATH ?? ""].join(delimiter);
  if (native !== undefined) Object.assign(additions, { CC: native.cc, CXX: native.cxx });
  // CMakePresets.json reads these.
  if (emscripten !== undefined) additions.HEED_EMSCRIPTEN_TOOLCHAIN = emscripten.cmakeToolchainFile;
  if (xsimd !== undefined)
    Object.assign(additions, { HEED_XSIMD_INCLUDE_DIR: xsimd.includeDir, xsimd_DIR: xsimd.cmakeDir });
  if (json !== undefined)
    Object.assign(additions, { HEED_JSON_INCLUDE_DIR: json.includeDir, nlohmann_json_DIR: json.cmakeDir });
  if (catch2 !== undefined) additions.HEED_CATCH2_DIR = catch2.sourceDir;
  return additions;
}

/** @param {string} name @param {Chosen[keyof Chosen]} tool */
function lineFor(name, tool) {
  if (tool === undefined) throw new Error(`${name} was neither found nor reported missing`);
  const path =
    "emcc" in tool
      ? tool.emcc
      : "cxx" in tool
        ? tool.cxx
        : "includeDir" in tool
          ? tool.includeDir
          : "sourceDir" in tool
            ? tool.sourceDir
            : tool.path;
  return `  ${name.padEnd(12)} ${tool.version.padEnd(10)} ${path} (${tool.origin})`;
}
