// The tools that heed is built with: the oldest version of each that suffices, and the Debian packages that bring it.
// Other files find the tools and unpack the packages.

/** A part of every cache key. Raise it when private packages are unpacked differently. */
export const SCHEME = 3;

/** The Debian release whose packages fill the private folder: stable, so that its versions stay put. */
export const DEBIAN_SUITE = "trixie";

export const OLDEST = {
  emscripten: "3.1.69",
  xsimd: "13.2.0",
  json: "3.11.0",
  cmake: "3.25.0",
  ninja: "1.10.0",
  python: "3.8.0",
  gcc: "12.0.0",
  clang: "14.0.0",
};

/** The exact version: the tests use its amalgamated source. */
export const CATCH2_VERSION = "3.7.1";

/** The exact major version: another one formats and lints differently. */
export const CLANG_TOOLS_MAJOR = 19;

/** @typedef {"emscripten" | "native" | "format" | "cmake" | "ninja" | "python" | "ccache"} Piece */

/** The Debian packages of each piece of the toolchain. @type {Record<Piece, readonly string[]>} */
export const PIECES = {
  emscripten: ["emscripten"],
  native: ["clang-19", "lld-19", "llvm-19", "libclang-rt-19-dev", "libstdc++-14-dev", "libc6-dev"],
  format: ["clang-format-19", "clang-tidy-19"],
  cmake: ["cmake"],
  ninja: ["ninja-build"],
  python: ["python3"],
  ccache: ["ccache"],
};

/**
 * Dependencies of those packages that heed never starts: the private apt is told that they are installed.
 * Versions only matter where another package names a range.
 * @type {Record<string, string>}
 */
export const NOT_NEEDED = {
  nodejs: "99",
  perl: "99",
  "clang-tools-19": "1:19.1.7-99",
  "python3-yaml": "99",
  "libc6-i386": "99",
  "lib32gcc-s1": "1:99",
  "lib32stdc++6": "99",
};

/** The version of Python that apt believes installed where the machine has its own: python3-yaml and others ask for less than 3.14. */
export const PYTHON_STUB = "3.13.99";

/** @typedef {{ debian: string, triple: string, loader: string }} Architecture */

/**
 * The names of each processor in Debian, in the C library's folders and in its loader.
 * @type {Partial<Record<NodeJS.Architecture, Architecture>>}
 */
export const ARCHITECTURES = {
  x64: { debian: "amd64", triple: "x86_64-linux-gnu", loader: "ld-linux-x86-64.so.2" },
  arm64: { debian: "arm64", triple: "aarch64-linux-gnu", loader: "ld-linux-aarch64.so.1" },
};

/**
 * @param {string} version
 * @param {string} oldest
 */
export function atLeast(version, oldest) {
  const have = version.split(".").map(Number);
  const want = oldest.split(".").map(Number);
  for (const [i, part] of want.entries()) {
    const difference = (have[i] ?? 0) - part;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
