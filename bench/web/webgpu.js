// The WebGPU bench in the browser: heed beside its peers' WebGPU backends, on Chromium's software adapter.

import { runBench } from "./lib/bench.js";
import { requireAll } from "./lib/findings.js";
import { HEED } from "./lib/gpu-findings.js";
import { gpuReport } from "./lib/gpu-report.js";
import { gpuParticipants } from "./lib/participants.js";
import { ALL, QUICK } from "./lib/shapes.js";
import { studyCrossover } from "./studies/crossover.js";
import { studyGpuMemory } from "./studies/gpu-memory.js";
import { studyShapes } from "./studies/shapes.js";

const OFFER = {
  name: "webgpu",
  studies: ["shapes", "crossover", "memory"],
  ofShapes: ["shapes"],
  shapes: ALL,
  quickShapes: QUICK,
  smokeShapes: QUICK.slice(0, 1),
};

await runBench(OFFER, {
  hasGpu: true,
  engines: [HEED],
  measure: async ({ stage, settings, when }) => ({
    shapes: await when("shapes", () => studyShapes(stage, settings.shapes, gpuParticipants, settings, console.log)),
    crossover: await when("crossover", () => studyCrossover(stage, settings)),
    memory: await when("memory", () => studyGpuMemory(stage, settings)),
  }),
  report: gpuReport,
  // Some of onnxruntime-web's WebGPU operators are wrong or not implemented.
  check: ({ shapes }) => requireAll(shapes, (name) => !name.startsWith("ort")),
});
