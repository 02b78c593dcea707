// Keeps what was compiled between checkouts, where there is ccache. It is not needed: without it everything is compiled.

import { join } from "node:path";
import { root } from "../make/root.js";
import { cacheFolder } from "./cache.js";

const SLOPPINESS = "time_macros,include_file_mtime,include_file_ctime";

/** What CMake and ccache read. @param {import("./programs.js").Program} [ccache] @returns {Record<string, string>} */
export function compileCache(ccache) {
  if (ccache === undefined) return {};
  return {
    CMAKE_CXX_COMPILER_LAUNCHER: ccache.path,
    CCACHE_DIR: join(cacheFolder(), "objects"),
    CCACHE_MAXSIZE: "2G",
    // The same in any folder: paths below it are compared as relative ones.
    CCACHE_BASEDIR: root,
    CCACHE_NOHASHDIR: "1",
    // What its manual asks for where headers are precompiled: the tests' are.
    CCACHE_SLOPPINESS: `pch_defines,${SLOPPINESS}`,
  };
}

/**
 * It does not see by its name that Emscripten's compiler is a clang. What clang precompiles names files of its own checkout, which may be
 * gone when another one asks for it.
 */
export const OF_EMSCRIPTEN = { CCACHE_COMPILERTYPE: "clang", CCACHE_SLOPPINESS: SLOPPINESS };
