// The ladder: the same problem from the definition to the kernels and threads, natively and as WebAssembly in Node, in one table.

import { join } from "node:path";
import { digits, table, times } from "../../bench/table.js";
import { build } from "../build.js";
import { note, run, step } from "../lib/steps.js";
import { root } from "../make/root.js";
import { findToolchain } from "../toolchain/find.js";
import { nodeFlags, PRESETS, runProgram } from "./program.js";

/** @typedef {{ rung: string, ms: number, gflops: number, speedUp: number }} Rung `speedUp`: over the first rung of its run */

export async function benchLadder() {
  const toolchain = await step("find the toolchain", () => findToolchain({ need: ["wasm", "native", "tests"] }));
  await build({ toolchain });
  /** Rungs of each build, by preset. @type {Map<string, readonly Rung[]>} */
  const runs = new Map();
  for (const preset of PRESETS)
    runs.set(preset, readRungs(await runProgram(toolchain, preset, "ladder", "heed_ladder")));
  const native = runs.get("native-release") ?? [];
  const wasm = merged(runs.get("wasm-simd") ?? [], runs.get("wasm-relaxed") ?? []);
  const threads = await secondThread(wasm);
  note(`\nSelf-attention, 4 heads, 512 x 64; speed-ups over the naive rung of the same run\n`);
  note(ladderTable(native, [...wasm, ...threads]));
}

/** @param {string} output a JSON object a line @returns {Rung[]} */
function readRungs(output) {
  const rungs = output.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  return rungs.map((one) => ({ ...one, speedUp: rungs[0].ms / one.ms }));
}

/** Joins the rungs of two builds, with common rungs once. @param {readonly Rung[]} first @param {readonly Rung[]} second */
function merged(first, second) {
  return [...first, ...second.filter(({ rung }) => first.every((one) => one.rung !== rung))];
}

/** The rung of two threads: the package's speed-up by the second thread, times the kernels' own rung. @param {readonly Rung[]} wasm @returns {Promise<Rung[]>} */
async function secondThread(wasm) {
  const program = join(root, "bench", "ladder", "threads.js");
  const { stdout } = await run(process.execPath, [...nodeFlags("wasm-relaxed"), program], { cwd: root });
  if (stdout === "") {
    note("heed gets no second thread here: there is no such rung in WebAssembly");
    return [];
  }
  const { variant, oneMs, twoMs } = JSON.parse(stdout);
  const kernels = wasm.find(({ rung }) => rung === `wasm-${variant}`);
  if (kernels === undefined) return [];
  const gain = oneMs / twoMs;
  return [
    { rung: "2 threads", ms: twoMs, gflops: (kernels.gflops * kernels.ms) / twoMs, speedUp: kernels.speedUp * gain },
  ];
}

/** @param {readonly Rung[]} native @param {readonly Rung[]} wasm */
function ladderTable(native, wasm) {
  const names = merged(native, wasm).map(({ rung }) => rung);
  // The rung of two threads comes last.
  names.sort((a, b) => Number(a.includes("threads")) - Number(b.includes("threads")));
  const rows = names.map((name) => [name, ...cells(native, name), ...cells(wasm, name)]);
  return table(["rung", "native ms", "GFLOP/s", "speed-up", "wasm ms", "GFLOP/s", "speed-up"], rows);
}

/** @param {readonly Rung[]} rungs @param {string} name */
function cells(rungs, name) {
  const one = rungs.find(({ rung }) => rung === name);
  return one === undefined ? ["", "", ""] : [digits(one.ms), digits(one.gflops), times(one.speedUp)];
}
