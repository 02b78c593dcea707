// Weights of 32, 16, 8 and 4 bits in Chromium: a layer's rows, a Llama's tokens and prompts beside wllama, a MiniLM's texts beside transformers.js.

import { runBench } from "./lib/bench.js";
import { weightsReport } from "./lib/weights-report.js";
import { dotClassOf, SHAPES, studyLarge, studyRows, studyWeights } from "./studies/weights.js";

const OFFER = {
  name: "weights",
  studies: ["rows", "shapes", "large"],
  ofShapes: ["shapes"],
  shapes: SHAPES,
  quickShapes: ["llama-token", "minilm-1x16", "minilm-8x128"],
  smokeShapes: ["llama-token", "llama-prefill", "minilm-1x8"],
};

await runBench(OFFER, {
  hasGpu: false,
  engines: ["heed@1", "heed@2"],
  measure: async ({ stage, settings, when }) => ({
    dotClass: await dotClassOf(stage),
    rows: await when("rows", () => studyRows(stage, settings)),
    shapes: await when("shapes", () => studyWeights(stage, settings)),
    large: await when("large", () => studyLarge(stage, settings)),
  }),
  report: weightsReport,
  check: ({ shapes }) => {
    const failed = shapes.flatMap(({ shape, results }) =>
      results.filter(({ failure }) => failure !== null).map(({ name, failure }) => `${name} at ${shape}: ${failure}`),
    );
    if (failed.length > 0) throw new Error(failed.join("\n"));
  },
});
