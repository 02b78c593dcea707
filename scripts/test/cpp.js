// Builds heed_tests under CMake presets and runs it: the same tests on many builds.

import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { buildPreset } from "../lib/cmake.js";
import { Failure, note, report, run, step } from "../lib/steps.js";
import { root } from "../make/root.js";

/** @typedef {{ name: string, passed: number, failed: number }} Result */

/** Node 20 knows relaxed SIMD only behind this flag; later versions have it and refuse the flag. */
const RELAXED_FLAG = "--experimental-wasm-relaxed-simd";
const RELAXED_FLAGS = Number(process.versions.node.split(".")[0]) < 21 ? [RELAXED_FLAG] : [];

/**
 * The runner of a preset's binary (none: it is executed directly), and the filter of its tests (none: all).
 * @type {Record<string, { runner?: readonly string[], only?: string }>}
 */
const RUNS = {
  // A race takes two threads.
  "native-tsan": { only: "[threads]" },
  "wasm-simd": { runner: [process.execPath] },
  "wasm-relaxed": { runner: [process.execPath, ...RELAXED_FLAGS] },
};

/**
 * @param {import("../toolchain/find.js").Toolchain<"wasm" | "native" | "tests">} toolchain
 * @param {readonly string[]} presets
 * @returns {Promise<Result[]>}
 */
export async function runCppTests(toolchain, presets) {
  const results = [];
  for (const preset of presets) {
    const { runner = [], only } = RUNS[preset] ?? {};
    try {
      await step(`build heed_tests, ${preset}`, () => buildPreset(toolchain, preset, ["heed_tests"]));
      results.push(await step(`test C++, ${preset}`, () => runBinary(preset, runner, only)));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      report(error);
      results.push({ name: preset, passed: 0, failed: 1 });
    }
  }
  return results;
}

/**
 * Runs the tests of one preset, a shard at a time on each core.
 * @param {string} preset @param {readonly string[]} runner @param {string | undefined} only
 */
async function runBinary(preset, runner, only) {
  const folder = join(root, "build", preset, "tests", "cpp");
  const binary = [join(folder, "heed_tests"), join(folder, "heed_tests.cjs")].find((path) => existsSync(path));
  if (binary === undefined) throw new Failure(`no heed_tests in ${folder}`);
  const cores = availableParallelism();
  // Some shards take half as long again as others: a core that is done with one takes the next.
  const count = 3 * cores;
  // Shuffled, or the slow tests of one file would all fall to one shard.
  const options = ["--colour-mode", "none", "--order", "rand", "--rng-seed", "1", "--shard-count", `${count}`];
  if (only !== undefined) options.unshift(only);
  /** @type {Result[]} */
  const results = [];
  let next = 0;
  const runShards = async () => {
    while (next < count) {
      results.push(await runShard(preset, [...runner, binary, ...options, "--shard-index", `${next++}`]));
    }
  };
  await Promise.all(Array.from({ length: cores }, runShards));
  const total = (/** @type {"passed" | "failed"} */ outcome) => results.reduce((sum, one) => sum + one[outcome], 0);
  return { name: preset, passed: total("passed"), failed: total("failed") };
}

/** @param {string} preset @param {readonly string[]} commandLine @returns {Promise<Result>} */
async function runShard(preset, [command = "", ...args]) {
  try {
    const { output } = await run(command, args, { cwd: root });
    return countOf(preset, output);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    note(error.output.trimEnd());
    const result = countOf(preset, error.output);
    // A crash or a sanitizer's finding ends the binary before it prints its count.
    return { ...result, failed: Math.max(result.failed, 1) };
  }
}

/** Reads Catch2's closing line. @param {string} name @param {string} output @returns {Result} */
function countOf(name, output) {
  const allPassed = /All tests passed \(\d+ assertions? in (\d+) test cases?\)/.exec(output);
  if (allPassed !== null) return { name, passed: Number(allPassed[1]), failed: 0 };
  const failed = Number(/test cases:.*?(\d+) failed/.exec(output)?.[1] ?? 0);
  const passed = Number(/test cases:.*?(\d+) passed/.exec(output)?.[1] ?? 0);
  return { name, passed, failed };
}
