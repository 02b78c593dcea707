// The bench in the browser: heed beside its peers.

import { runBench } from "./lib/bench.js";
import { requireAll } from "./lib/findings.js";
import { participantsAt } from "./lib/participants.js";
import { ALL, QUICK } from "./lib/shapes.js";
import { webReport } from "./lib/web-report.js";
import { studyCosts } from "./studies/costs.js";
import { studyFirstCall } from "./studies/first-call.js";
import { studyFirstResult } from "./studies/first-result.js";
import { studyMachine } from "./studies/machine.js";
import { studyMemory } from "./studies/memory.js";
import { studyShapes } from "./studies/shapes.js";
import { studyStalls } from "./studies/stalls.js";

const OFFER = {
  name: "web",
  studies: ["machine", "shapes", "costs", "first-call", "first-result", "stalls", "memory"],
  ofShapes: ["shapes"],
  shapes: ALL,
  quickShapes: QUICK,
  smokeShapes: QUICK.slice(0, 1),
};

await runBench(OFFER, {
  hasGpu: false,
  engines: ["heed@1", "heed@2"],
  measure: async ({ stage, openStage, settings, when }) => ({
    machine: await when("machine", () => studyMachine(stage, settings)),
    shapes: await when("shapes", () => studyShapes(stage, settings.shapes, participantsAt, settings, console.log)),
    costs: await when("costs", () => studyCosts(stage, settings)),
    firstCalls: await when("first-call", () => studyFirstCall(openStage, settings)),
    firstResults: await when("first-result", () => studyFirstResult(stage, settings)),
    stalls: await when("stalls", () => studyStalls(stage, settings)),
    memory: await when("memory", () => studyMemory(stage, settings)),
  }),
  report: webReport,
  check: ({ shapes }) => requireAll(shapes),
});
