// clang-format and clang-tidy over the C++ sources.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildPreset } from "../lib/cmake.js";
import { Failure, run } from "../lib/steps.js";
import { filesUnder, hashOf } from "../make/freshness.js";
import { root } from "../make/root.js";
import { cacheFolder } from "../toolchain/cache.js";

/** @typedef {import("../toolchain/find.js").Toolchain<"native" | "tests" | "format">} Toolchain */

const CPP = join(root, "cpp/");
const KERNELS = join(CPP, "kernels/");
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
  /** @type {{ file: string, command: string }[]} */
  const commands = JSON.parse(readFileSync(join(database, "compile_commands.json"), "utf8"));
  // The database may hold GCC's flags, which clang does not know, and the machine's own features, of which it warns of AVX10's.
  const silent = ["unknown-warning-option", "invalid-feature-combination"];
  const options = ["--quiet", "-p", database, ...silent.map((name) => `--extra-arg=-Wno-${name}`)];
  /** @type {string[]} */
  const findings = [];
  await twoAtATime(longestFirst(commands), async ({ file, command }) => {
    const salt = `${toolchain.clangTidy.version} ${command.replaceAll(root, "")}`;
    try {
      await unlessFaultless(hashOf(inputsOf(file), salt), async () => {
        await run(toolchain.clangTidy.path, [...options, file], { cwd: root });
      });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      findings.push(error.output);
    }
  });
  if (findings.length > 0) {
    throw new Failure(`clang-tidy finds fault with ${findings.length} files`, { output: findings.join("\n") });
  }
}

/**
 * Linting takes minutes, so a source that passed once is not linted again in any checkout.
 * @param {string} hash of all inputs of the lint @param {() => Promise<void>} lint
 */
async function unlessFaultless(hash, lint) {
  const verdict = join(cacheFolder(), "faultless", hash);
  if (existsSync(verdict)) return;
  await lint();
  mkdirSync(dirname(verdict), { recursive: true });
  writeFileSync(verdict, "");
}

/** The source and all that it may include. @param {string} source */
function inputsOf(source) {
  const rooms = source.startsWith(KERNELS) ? [KERNELS, join(CPP, "include")] : [CPP];
  return [...filesUnder(rooms).filter((path) => !path.endsWith(".cpp")), source, join(root, ".clang-tidy")];
}

/** The sources of heed, the kernels first. @template {{ file: string }} T @param {readonly T[]} commands */
function longestFirst(commands) {
  const ours = commands.filter(({ file }) => file.startsWith(CPP));
  return ours.sort((a, b) => Number(b.file.startsWith(KERNELS)) - Number(a.file.startsWith(KERNELS)));
}

/** @template T @param {readonly T[]} items @param {(item: T) => Promise<unknown>} work */
async function twoAtATime(items, work) {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all([worker(), worker()]);
}
