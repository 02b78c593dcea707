// Benches: `npm run bench` measures the kernels and the ladder, natively and in Node; `npm run bench -- web` heed beside its peers in
// Chromium, `npm run bench -- webgpu` likewise on a GPU, `npm run bench -- train` likewise as they train, `npm run bench -- models` models, `npm run bench -- weights` narrow weights;
// `npm run bench -- numerics` how far results are from double precision; `npm run bench -- report` makes a page of all that is claimed.
// Figures are medians, each beside the roofline of the same run. bench/README.md describes them.

import { ensureDependencies } from "./lib/dependencies.js";
import { Failure } from "./lib/steps.js";

/** @type {Record<string, (args: readonly string[]) => Promise<void>>} */
const BENCHES = {
  cpp: async () => (await import("./bench/cpp.js")).benchCpp(),
  ladder: async () => (await import("./bench/ladder.js")).benchLadder(),
  models: async (args) => (await import("./bench/web.js")).benchWeb("models.js", args),
  numerics: async (args) => (await import("./bench/numerics.js")).benchNumerics(args),
  report: async (args) => (await import("./bench/report.js")).benchReport(args),
  web: async (args) => (await import("./bench/web.js")).benchWeb("run.js", args),
  weights: async (args) => (await import("./bench/web.js")).benchWeb("weights.js", args),
  train: async (args) => (await import("./bench/web.js")).benchPages("train.js", args),
  webgpu: async (args) => (await import("./bench/web.js")).benchPages("webgpu.js", args),
};

const [name, ...args] = process.argv.slice(2);
await ensureDependencies();
if (name === undefined) {
  await BENCHES["cpp"]?.([]);
  await BENCHES["ladder"]?.([]);
} else {
  const bench = BENCHES[name];
  if (bench === undefined)
    throw new Failure(`no bench is called ${name}; there are ${Object.keys(BENCHES).join(", ")}`);
  await bench(args);
}
