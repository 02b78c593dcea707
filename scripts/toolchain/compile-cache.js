// Shares compiled objects among checkouts, where there is ccache. It is optional: without it everything is compiled.

import { join } from "node:path";
import { root } from "../make/root.js";
import { cacheFolder } from "./cache.js";

const SLOPPINESS = "time_macros,include_file_mtime,include_file_ctime";

/** The environment variables that CMake and ccache read. @param {import("./programs.js").Program} [ccache] @returns {Record<string, string>} */
export function compileCache(ccache) {
  if (ccache === undefined) return {};
  return {
    CMAKE_CXX_COMPILER_LAUNCHER: ccache.path,
    CCACHE_DIR: join(cacheFolder(), "objects"),
    CCACHE_MAXSIZE: "2G",
    // Objects are the same for any checkout: paths below its root are compared as relative ones.
    CCACHE_BASEDIR: root,
    CCACHE_NOHASHDIR: "1",
    // ccache's manual asks for this where headers are precompiled, as the tests' are.
    CCACHE_SLOPPINESS: `pch_defines,${SLOPPINESS}`,
  };
}

/**
 * ccache does not recognize Emscripten's compiler as a clang by its name. A header that clang precompiled names files of its own checkout,
 * which may be gone when another checkout asks for it, so precompiled headers are not shared.
 */
export const OF_EMSCRIPTEN = { CCACHE_COMPILERTYPE: "clang", CCACHE_SLOPPINESS: SLOPPINESS };
