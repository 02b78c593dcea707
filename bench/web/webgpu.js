// The WebGPU bench in the browser: heed beside its peers' WebGPU backends, on Chromium's software adapter.

import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { findToolchain } from "../../scripts/toolchain/find.js";
import { requireAll } from "./lib/findings.js";
import { gpuReport } from "./lib/gpu-report.js";
import { gpuParticipants, participant } from "./lib/participants.js";
import { serve } from "./lib/server.js";
import { ALL, QUICK } from "./lib/shapes.js";
import { Stage } from "./lib/stage.js";
import { studyCrossover } from "./studies/crossover.js";
import { studyGpuMemory } from "./studies/gpu-memory.js";
import { readSettings, usage } from "./studies/settings.js";
import { studyShapes } from "./studies/shapes.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const OFFER = {
  name: "webgpu",
  studies: ["shapes", "crossover", "memory"],
  ofShapes: ["shapes"],
  shapes: ALL,
  quickShapes: QUICK,
  smokeShapes: QUICK.slice(0, 1),
  out: join(root, "build", "bench", "webgpu.json"),
};
const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(usage(OFFER));
  process.exit(0);
}
const settings = readSettings(args, OFFER);
const { chromium } = await findToolchain({ need: ["chromium"], log: () => {} });
const server = await serve({ isolated: settings.isolated });
const stage = await Stage.open({ address: server.address, executablePath: chromium.path, hasGpu: true });

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
      machine: `${cpus()[0]?.model ?? "unknown processor"}, ${availableParallelism()} cores`,
      heed: await stage.about(participant("heed-webgpu@1")),
    },
    shapes: await when("shapes", () => studyShapes(stage, settings.shapes, gpuParticipants, settings, console.log)),
    crossover: await when("crossover", () => studyCrossover(stage, settings)),
    memory: await when("memory", () => studyGpuMemory(stage, settings)),
  };
  const out = resolve(settings.out);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(findings, null, 2)}\n`);
  console.log(`\n${gpuReport(findings)}\n\nall samples: ${out}`);
  // Some of onnxruntime-web's WebGPU operators are wrong or not implemented.
  if (settings.isSmoke) requireAll(findings.shapes, (name) => !name.startsWith("ort"));
} finally {
  await stage.end();
  server.close();
}
