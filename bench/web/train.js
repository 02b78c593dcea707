// The bench of training in the browser: the backward pass of attention and whole steps of GPT-2s, heed beside its peers.

import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { findToolchain } from "../../scripts/toolchain/find.js";
import { requireAll } from "./lib/findings.js";
import { MODELS } from "./lib/models.js";
import { backwardParticipants } from "./lib/participants.js";
import { serve } from "./lib/server.js";
import { BACKWARD } from "./lib/shapes.js";
import { Stage } from "./lib/stage.js";
import { requireAlike, trainingReport } from "./lib/training-report.js";
import { studyBackwardMemory } from "./studies/memory.js";
import { readSettings, usage } from "./studies/settings.js";
import { studyShapes } from "./studies/shapes.js";
import { studyTraining } from "./studies/training.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const OFFER = {
  name: "train",
  studies: ["backward", "steps", "memory"],
  ofShapes: ["backward", "steps"],
  shapes: [...BACKWARD, ...MODELS],
  quickShapes: ["8x1024x64", "8x1024x64c", "96x3"],
  smokeShapes: ["2x128x32c", "32x1"],
  out: join(root, "build", "bench", "train.json"),
};
const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(usage(OFFER));
  process.exit(0);
}
const settings = readSettings(args, OFFER);
const { chromium } = await findToolchain({ need: ["chromium"], log: () => {} });
const server = await serve({ isolated: settings.isolated });
const stage = await Stage.open({ address: server.address, executablePath: chromium.path, hasGpu: false });
const isModel = (/** @type {string} */ name) => /^\d+x\d+$/.test(name);
const [models, shapes] = [settings.shapes.filter(isModel), settings.shapes.filter((name) => !isModel(name))];

/**
 * @template T
 * @param {string} name
 * @param {() => Promise<T[]>} study
 * @returns {Promise<T[]>}
 */
const when = async (name, study) => (settings.studies.includes(name) ? study() : []);

try {
  const findings = {
    run: {
      date: new Date().toISOString().slice(0, 10),
      browser: stage.version,
      isolated: settings.isolated,
      machine: `${cpus()[0]?.model ?? "unknown processor"}, ${availableParallelism()} cores`,
    },
    backward: await when("backward", () => studyShapes(stage, shapes, backwardParticipants, settings, console.log)),
    steps: await when("steps", () => studyTraining(stage, models, settings, console.log)),
    memory: await when("memory", () => studyBackwardMemory(stage, settings)),
  };
  const out = resolve(settings.out);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(findings, null, 2)}\n`);
  console.log(`\n${trainingReport(findings)}\n\nall samples: ${out}`);
  if (settings.isSmoke) {
    requireAll(findings.backward);
    requireAlike(findings.steps);
  }
} finally {
  await stage.end();
  server.close();
}
