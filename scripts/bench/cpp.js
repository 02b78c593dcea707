// The C++ bench: attention as % of peak, natively and as WebAssembly in Node.

import { note, step } from "../lib/steps.js";
import { findToolchain } from "../toolchain/find.js";
import { PRESETS, runProgram } from "./program.js";

export async function benchCpp() {
  const toolchain = await step("find the toolchain", () => findToolchain({ need: ["wasm", "native", "tests"] }));
  for (const preset of PRESETS) note(`\n${await runProgram(toolchain, preset, "cpp", "heed_bench")}`);
}
