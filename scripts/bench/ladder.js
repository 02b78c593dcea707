// The ladder: the same problem from the definition to the kernels, natively and as WebAssembly in Node, in one table.

import { digits, table, times } from "../../bench/table.js";
import { note, step } from "../lib/steps.js";
import { findToolchain } from "../toolchain/find.js";
import { PRESETS, runProgram } from "./program.js";

/** @typedef {{ rung: string, ms: number, gflops: number, error: number }} Rung */

export async function benchLadder() {
  const toolchain = await step("find the toolchain", () => findToolchain({ need: ["wasm", "native", "tests"] }));
  /** Rungs of each build, by preset. @type {Map<string, readonly Rung[]>} */
  const runs = new Map();
  for (const preset of PRESETS) {
    const output = await runProgram(toolchain, preset, "ladder", "heed_ladder");
    const lines = output.trim().split("\n");
    runs.set(
      preset,
      lines.map((line) => JSON.parse(line)),
    );
  }
  note(`\nSelf-attention, 4 heads, 512 x 64; speed-ups over the naive rung of the same run\n\n${ladderTable(runs)}`);
}

/** @param {ReadonlyMap<string, readonly Rung[]>} runs */
function ladderTable(runs) {
  const native = runs.get("native-release") ?? [];
  const simd = runs.get("wasm-simd") ?? [];
  const relaxed = runs.get("wasm-relaxed") ?? [];
  const names = [...new Set([...native, ...simd, ...relaxed].map(({ rung }) => rung))];
  // The threads come last, whoever has them.
  names.sort((a, b) => Number(a.includes("threads")) - Number(b.includes("threads")));
  const rows = names.map((name) => {
    const wasm = simd.some(({ rung }) => rung === name) ? simd : relaxed;
    return [name, ...cells(native, name), ...cells(wasm, name)];
  });
  return table(["rung", "native ms", "GFLOP/s", "speed-up", "wasm ms", "GFLOP/s", "speed-up"], rows);
}

/** @param {readonly Rung[]} rungs @param {string} name */
function cells(rungs, name) {
  const [first] = rungs;
  const one = rungs.find(({ rung }) => rung === name);
  if (first === undefined || one === undefined) return ["", "", ""];
  return [digits(one.ms), digits(one.gflops), times(first.ms / one.ms)];
}
