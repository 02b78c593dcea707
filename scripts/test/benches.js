// Runs every bench of bench/README.md for a moment, by `--smoke`: whether it builds, ends well and gives right numbers, not how fast.
// The peers of bench/web take part where they are installed; a quarter of a gigabyte is not fetched for this.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { nodeFlags, PRESETS, runProgram } from "../bench/program.js";
import { buildPreset } from "../lib/cmake.js";
import { run, sideBySide, step } from "../lib/steps.js";
import { root } from "../make/root.js";

/** @typedef {import("../toolchain/find.js").Toolchain<"wasm" | "native" | "tests">} Tools */

const web = join(root, "bench", "web");
const hasPeers = existsSync(join(web, "node_modules"));

/** What `npm run bench` runs by every preset, by its folder. */
const PROGRAMS = { cpp: "heed_bench", ladder: "heed_ladder" };

/** What is run by hand, with its arguments; natively is enough. */
const NATIVE_PROGRAMS = {
  heed_bench_linear: [],
  heed_bench_affine: [],
  heed_bench_narrow: [],
  heed_bench_cache: [],
  heed_bench_backward: [],
  heed_bench_threads: ["2", "25"],
};

/** Figures of a real run are left alone. */
const OUT = ["--out", join(root, "build", "bench", "smoke.json")];

/** Scripts under bench/ with their arguments. */
const SCRIPTS = [
  ["ladder/threads.js"],
  ["structure.js"],
  ["numerics/run.js"],
  ["caches.js", "1"],
  ["caches.js", "2"],
  ["decode/run.js", "1"],
  ["decode/run.js", "2"],
  ["web/run.js", ...OUT, ...(hasPeers ? [] : ["--peers", "plain"])],
  ["web/models.js", ...OUT],
  ["web/weights.js", ...OUT, ...(hasPeers ? [] : ["--peers", "plain"])],
  ["web/webgpu.js", ...OUT, ...(hasPeers ? [] : ["--peers", "plain"])],
  ["web/train.js", ...OUT, ...(hasPeers ? [] : ["--peers", "plain"])],
  ...(hasPeers ? [["web/interop.js"], ["web/quality.js", ...OUT]] : []),
];

/**
 * @param {Tools} toolchain
 * @param {readonly string[]} kinds presets of the programs, and "scripts"
 * @returns {Promise<import("./cpp.js").Result[]>}
 */
export async function runBenches(toolchain, kinds) {
  if (kinds.length === 0) return [];
  const built = programs(toolchain, kinds);
  const scripts = kinds.includes("scripts") ? SCRIPTS.map((line) => () => runScript(toolchain, line)) : [];
  // A build uses all cores by itself.
  const failed = await step("try the benches", async () => (await sideBySide(built, 1)) + (await sideBySide(scripts)));
  return [{ name: "benches", passed: built.length + scripts.length - failed, failed }];
}

/** @param {Tools} toolchain @param {readonly string[]} kinds */
function programs(toolchain, kinds) {
  const natives = kinds.includes("native-release") ? Object.entries(NATIVE_PROGRAMS) : [];
  const measured = kinds.includes("scripts") ? ["wasm-simd", "wasm-relaxed"] : [];
  return [
    ...PRESETS.filter((one) => kinds.includes(one)).flatMap((preset) =>
      Object.entries(PROGRAMS).map(
        ([folder, target]) =>
          () =>
            runProgram(toolchain, preset, folder, target, ["--smoke"]),
      ),
    ),
    ...natives.map(
      ([target, args]) =>
        () =>
          runProgram(toolchain, "native-release", "cpp", target, [...args, "--smoke"]),
    ),
    ...measured.map((preset) => () => buildPreset(toolchain, preset, ["heed_peaks"])),
  ];
}

/** @param {Tools} toolchain @param {readonly string[]} line */
function runScript(toolchain, [script = "", ...args]) {
  const flags = script.startsWith("numerics") ? nodeFlags("wasm-relaxed") : [];
  return run(process.execPath, [...flags, join(root, "bench", script), ...args, "--smoke"], {
    cwd: root,
    env: toolchain.env,
  });
}
