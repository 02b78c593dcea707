// clang-format and clang-tidy over the C++ sources.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildPreset } from "../lib/cmake.js";
import { Failure, run } from "../lib/steps.js";
import { filesUnder, hashOf } from "../make/freshness.js";
import { root } from "../make/root.js";
import { cacheFolder } from "../toolchain/cache.js";

/** @typedef {import("../toolchain/find.js").Toolchain<"native" | "tests" | "format">} Toolchain */

const FOLDERS = ["cpp", "tests/cpp", "bench/cpp", "bench/ladder"].map((path) => join(root, path));

export const cppSources = () => filesUnder(FOLDERS).filter((path) => /\.[ch]pp$/.test(path));

/** @param {Toolchain} toolchain */
export async function checkCppFormat(toolchain) {
  await run(toolchain.clangFormat.path, ["--dry-run", "--Werror", ...cppSources()], { cwd: root });
}

/** @param {Toolchain} toolchain */
export async function checkCppLint(toolchain) {
  await buildPreset(toolchain, "native-debug", []);
  const database = join(root, "build", "native-debug");
  const text = readFileSync(join(database, "compile_commands.json"), "utf8");
  /** @type {{ file: string }[]} */
  const commands = JSON.parse(text);
  const sources = sourcesOf(commands.map(({ file }) => file));
  const salt = `${toolchain.clangTidy.version} ${text.replaceAll(root, "")}`;
  await unlessFaultless(hashOf([join(root, "cpp"), join(root, ".clang-tidy")], salt), async () => {
    // The database may hold GCC's flags, which clang does not know.
    const options = ["--quiet", "-p", database, "--extra-arg=-Wno-unknown-warning-option"];
    /** @type {string[]} */
    const findings = [];
    await twoAtATime(sources, async (source) => {
      try {
        await run(toolchain.clangTidy.path, [...options, source], { cwd: root });
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        findings.push(error.output);
      }
    });
    if (findings.length > 0) {
      throw new Failure(`clang-tidy finds fault with ${findings.length} files`, { output: findings.join("\n") });
    }
  });
}

/**
 * Linting takes minutes, so sources that passed once are not linted again in any checkout.
 * @param {string} hash of all inputs of the lint @param {() => Promise<void>} lint
 */
async function unlessFaultless(hash, lint) {
  const verdict = join(cacheFolder(), "faultless", hash);
  if (existsSync(verdict)) return;
  await lint();
  mkdirSync(dirname(verdict), { recursive: true });
  writeFileSync(verdict, "");
}

/** The sources, longest first: the kernels. @param {readonly string[]} files */
function sourcesOf(files) {
  // The kernels' own translation units are left out until their findings are mended.
  const ours = files.filter((file) => file.startsWith(join(root, "cpp")) && !file.includes("/kernels/"));
  return ours;
}

/** @template T @param {readonly T[]} items @param {(item: T) => Promise<unknown>} work */
async function twoAtATime(items, work) {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all([worker(), worker()]);
}
