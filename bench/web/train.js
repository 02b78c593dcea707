// The bench of training in the browser: the backward pass of attention and whole steps of GPT-2s, heed beside its peers.

import { runBench } from "./lib/bench.js";
import { requireAll } from "./lib/findings.js";
import { MODELS } from "./lib/models.js";
import { backwardParticipants } from "./lib/participants.js";
import { BACKWARD } from "./lib/shapes.js";
import { requireAlike, trainingReport } from "./lib/training-report.js";
import { studyBackwardMemory } from "./studies/memory.js";
import { studyShapes } from "./studies/shapes.js";
import { studyTraining } from "./studies/training.js";

const OFFER = {
  name: "train",
  studies: ["backward", "steps", "memory"],
  ofShapes: ["backward", "steps"],
  shapes: [...BACKWARD, ...MODELS],
  quickShapes: ["8x1024x64", "8x1024x64c", "96x3"],
  smokeShapes: ["2x128x32c", "32x1"],
};

const isModel = (/** @type {string} */ name) => /^\d+x\d+$/.test(name);

await runBench(OFFER, {
  hasGpu: false,
  engines: [],
  async measure({ stage, settings, when }) {
    const [models, shapes] = [true, false].map((is) => settings.shapes.filter((name) => isModel(name) === is));
    return {
      backward: await when("backward", () =>
        studyShapes(stage, shapes ?? [], backwardParticipants, settings, console.log),
      ),
      steps: await when("steps", () => studyTraining(stage, models ?? [], settings, console.log)),
      memory: await when("memory", () => studyBackwardMemory(stage, settings)),
    };
  },
  report: trainingReport,
  check({ backward, steps }) {
    requireAll(backward);
    requireAlike(steps);
  },
});
