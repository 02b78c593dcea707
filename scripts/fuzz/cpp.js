// Random inputs for what C++ reads, under ASan and UBSan: the C++ tests that are called [fuzz], for as long as one likes.

import { join } from "node:path";
import { buildPreset } from "../lib/cmake.js";
import { run, step } from "../lib/steps.js";
import { root } from "../make/root.js";

const PRESET = "native-asan";

/**
 * @param {import("../toolchain/find.js").Toolchain<"native" | "tests">} toolchain
 * @param {{ minutes: number, seed: number }} options
 */
export async function fuzzCpp(toolchain, { minutes, seed }) {
  await step(`build heed_tests, ${PRESET}`, () => buildPreset(toolchain, PRESET, ["heed_tests"]));
  await run(join(root, "build", PRESET, "tests/cpp/heed_tests"), ["[fuzz]"], {
    cwd: root,
    env: { ...toolchain.env, HEED_SEED: String(seed), HEED_FUZZ_SECONDS: String(60 * minutes) },
    quiet: false,
    title: `try random inputs for ${minutes} minutes`,
  });
}
