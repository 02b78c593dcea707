// Random testing for as long as one likes: `npm run fuzz -- --minutes 10`, with `--seed S` to repeat a run, `--only NAME` for one property,
// `--cpp` for the packed calls that C++ reads, under sanitizers, `--gpu` for attention on Chromium's software GPU.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "./build.js";
import { fuzzCpp } from "./fuzz/cpp.js";
import { Failure, note, run, step } from "./lib/steps.js";
import { root } from "./make/root.js";
import { findToolchain } from "./toolchain/find.js";

/** How many properties there are: each has a list of past failures. */
const PROPERTIES = Object.keys(JSON.parse(readFileSync(join(root, "tests/fuzz/corpus.json"), "utf8"))).length;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string", default: String(Math.floor(Date.now() / 1000)) },
    only: { type: "string" },
    cpp: { type: "boolean", default: false },
    gpu: { type: "boolean", default: false },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!(minutes > 0) || !Number.isSafeInteger(seed)) throw new Failure("npm run fuzz takes --minutes N and --seed S");

note(`seed ${seed}`);
if (values.cpp) {
  const toolchain = await step("find the toolchain", () => findToolchain({ need: ["native", "tests"] }));
  await fuzzCpp(toolchain, { minutes, seed });
} else {
  const toolchain = await step("find the toolchain", () =>
    values.gpu ? findToolchain({ need: ["wasm", "tests", "chromium"] }) : findToolchain({ need: ["wasm", "tests"] }),
  );
  await build({ toolchain });
  await fuzzTypeScript(toolchain.env);
}

/**
 * All properties, each for its share of the time, and files that chance has spoilt; or so many problems on the GPU.
 * @param {NodeJS.ProcessEnv} env
 */
async function fuzzTypeScript(env) {
  const { gpu, only } = values;
  const args = gpu
    ? ["--project=chromium-webgpu", "tests/gpu/sweep.test.ts"]
    : ["--project=unit", "tests/fuzz/", "fuzz.test.ts", "--maxWorkers=1"];
  if (only !== undefined) args.push("-t", only);
  await run(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...args], {
    cwd: root,
    env: {
      ...env,
      HEED_FUZZ_SEED: String(seed),
      HEED_FUZZ_MS: String(Math.round((60_000 * minutes) / (only === undefined ? PROPERTIES : 1))),
      HEED_SEED: String(seed),
      HEED_FUZZ: String(Math.ceil((gpu ? 100 : 2000) * minutes)),
    },
    quiet: false,
    title: `try random problems for ${minutes} minutes`,
  });
}
