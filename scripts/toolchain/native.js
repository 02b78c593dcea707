// Finds a C++ compiler for this machine that builds working C++20 programs with the address and thread sanitizers: the one
// that CXX names, the system's, or the private clang.

import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Failure, run, step } from "../lib/steps.js";
import { remembered } from "./probes.js";
import { versionOf } from "./programs.js";
import { onPath } from "./system.js";
import { atLeast, OLDEST } from "./versions.js";

/**
 * @typedef {object} Native
 * @property {string} cc
 * @property {string} cxx
 * @property {"gcc" | "clang"} kind
 * @property {string} version
 * @property {string} origin "CXX", "system" or "private"
 * @property {string[]} flags to pass to both, when compiling and linking; often none
 * @property {Record<string, string>} env
 */

/** A program with the features of the language, of its library and of threads that the project uses. */
const PROBE = `
#include <atomic>
#include <concepts>
#include <cstdio>
#include <memory>
#include <span>
#include <thread>
#include <vector>
template <std::floating_point T> T sum(std::span<const T> values) { T total{}; for (T value : values) total += value; return total; }
int main() {
  std::vector<float> values(64, 0.5f);
  std::atomic<int> done{0};
  auto work = std::make_unique<std::jthread>([&] { done.fetch_add(1); });
  work.reset();
  return sum<float>(values) == 32.0f && done.load() == 1 ? 0 : 1;
}
`;

/** @returns {Promise<{ found: Native } | import("./programs.js").Problem>} */
export async function findNative() {
  const { CC, CXX } = process.env;
  if (CXX) {
    const cxx = onPath(CXX);
    const result = cxx === undefined ? `CXX names ${CXX}, which is no program on PATH` : await judge(cxx);
    if (typeof result === "string") return { problem: result, named: "CXX" };
    const cc = CC === undefined ? sibling(String(cxx)) : onPath(CC);
    if (cc === undefined) return { problem: `no C compiler beside ${cxx}: set CC`, named: "CXX" };
    return { found: { ...result, cc, origin: "CXX" } };
  }
  const seen = [];
  for (const name of namesToTry()) {
    const cxx = onPath(name);
    if (cxx === undefined) continue;
    const cc = sibling(cxx);
    const result = cc === undefined ? `${cxx} has no C compiler beside it` : await judge(cxx);
    if (typeof result !== "string" && cc !== undefined) return { found: { ...result, cc, origin: "system" } };
    seen.push(String(result));
  }
  const wanted = `g++ ${OLDEST.gcc} or clang ${OLDEST.clang}, or newer, with the address and thread sanitizers`;
  return {
    problem:
      seen.length === 0 ? `no C++ compiler is on PATH; needed is ${wanted}` : `${seen.join("; ")}; needed is ${wanted}`,
  };
}

function namesToTry() {
  const numbered = (/** @type {string} */ name, /** @type {number} */ newest, /** @type {number} */ oldest) =>
    Array.from({ length: newest - oldest + 1 }, (_, i) => `${name}-${newest - i}`);
  return ["g++", "clang++", ...numbered("g++", 16, 12), ...numbered("clang++", 22, 14)];
}

/** The C compiler of the same installation: g++-13 has gcc-13. @param {string} cxx */
function sibling(cxx) {
  const name = basename(cxx)
    .replace("clang++", "clang")
    .replace("g++", "gcc")
    .replace(/^c\+\+/, "cc");
  return onPath(join(dirname(cxx), name));
}

/**
 * @param {string} cxx
 * @returns {Promise<Omit<Native, "cc" | "origin"> | string>} or why not
 */
async function judge(cxx) {
  const macros = await remembered("macros", [cxx], async () =>
    (await run(cxx, ["-dM", "-E", "-x", "c++", "/dev/null"], { quiet: true }).catch(() => undefined))?.stdout
      .split("\n")
      .filter((line) => /__clang_major__|__GNUC__/.test(line))
      .join("\n"),
  );
  if (macros === undefined) return `${cxx} does not run`;
  const kind = macros.includes("__clang_major__") ? "clang" : "gcc";
  const version = (await versionOf(cxx, ["-dumpfullversion", "-dumpversion"])) ?? (await versionOf(cxx));
  if (version === undefined) return `${cxx} does not tell its version`;
  if (!atLeast(version, OLDEST[kind])) return `${cxx} is ${kind} ${version}`;
  const works = await remembered(`compiles ${PROBE}`, [cxx], async () => {
    const failure = await tryOut(cxx);
    return failure === undefined ? "yes" : undefined;
  });
  if (works === undefined)
    return `${cxx} (${version}) cannot build and run C++20 with -fsanitize=address and -fsanitize=thread`;
  return { cxx, kind, version, flags: [], env: {} };
}

/** Builds and runs the probe under each sanitizer. @param {string} cxx @returns {Promise<Failure | undefined>} why it failed */
export async function tryOut(cxx) {
  const folder = await mkdtemp(join(tmpdir(), "heed-probe-"));
  try {
    const source = join(folder, "probe.cpp");
    await writeFile(source, PROBE);
    await step(`try ${cxx} with its sanitizers`, () =>
      Promise.all(
        ["address,undefined", "thread"].map(async (sanitizer) => {
          const program = join(folder, sanitizer);
          await run(cxx, ["-std=c++20", "-pthread", `-fsanitize=${sanitizer}`, source, "-o", program], { quiet: true });
          await run(program, [], { quiet: true });
        }),
      ),
    );
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const binaries = (/** @type {string} */ root) => join(root, "usr/lib/llvm-19/bin");

/**
 * Writes the private clang's configuration: clang compiles and links against the private C and C++ libraries, whatever the
 * system's are. Clang reads it for this target only, so Emscripten's use of the same program is not affected. clang-tidy
 * reads it as well.
 * @param {string} folder where it lies now
 * @param {string} final its final folder
 * @param {import("./versions.js").Architecture} architecture
 */
export async function prepareNative(folder, final, architecture) {
  const libraries = join(final, "usr/lib", architecture.triple);
  // clang is started through the loader, because its own loader path names the final folder.
  const unpacked = join(folder, "usr/lib", architecture.triple);
  const { stdout } = await run(join(unpacked, architecture.loader), [
    "--library-path",
    `${unpacked}:${join(folder, "usr/lib/llvm-19/lib")}`,
    join(binaries(folder), "clang"),
    "--print-target-triple",
  ]);
  const gcc = join("usr/lib/gcc", architecture.triple);
  const [gccVersion = ""] = await readdir(join(folder, gcc));
  const config = [
    `--sysroot=${final}`,
    // Without this option clang follows the link lib, and writes lib/gcc/…/../../../../include into dependency files: Ninja
    // shortens that to a folder that does not exist, and rebuilds everything every time.
    `--gcc-install-dir=${join(final, gcc, gccVersion)}`,
    "-fuse-ld=lld",
    `-Wl,--dynamic-linker=${join(libraries, architecture.loader)}`,
    // RPATH, not RUNPATH: it also holds for the libraries' own libraries.
    `-Wl,--disable-new-dtags,-rpath,${libraries}`,
  ]
    .map((option) => `"${option}"\n`)
    .join("");
  for (const driver of ["clang", "clang++"])
    await writeFile(join(binaries(folder), `${stdout.trim()}-${driver}.cfg`), config);
}

/** @param {string} root @returns {Promise<Native>} */
export async function privateNative(root) {
  const cxx = join(binaries(root), "clang++");
  const version = await versionOf(cxx);
  const works =
    version === undefined
      ? undefined
      : await remembered(`compiles ${PROBE}`, [cxx], async () => {
          const failure = await tryOut(cxx);
          if (failure !== undefined) throw failure;
          return "yes";
        });
  if (version === undefined || works === undefined) throw new Failure(`${cxx} was unpacked but does not run`);
  const env = { ASAN_SYMBOLIZER_PATH: symbolizer(root), TSAN_SYMBOLIZER_PATH: symbolizer(root) };
  return { cc: join(binaries(root), "clang"), cxx, kind: "clang", version, origin: "private", flags: [], env };
}

const symbolizer = (/** @type {string} */ root) => join(binaries(root), "llvm-symbolizer");
