// The bench in the browser: reads the command line, measures the studies, writes the JSON and prints the tables.

import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { findToolchain } from "../../scripts/toolchain/find.js";
import { requireAll } from "./lib/findings.js";
import { isHeed, participant, participantsAt } from "./lib/participants.js";
import { report } from "./lib/report.js";
import { serve } from "./lib/server.js";
import { ALL, QUICK } from "./lib/shapes.js";
import { Stage } from "./lib/stage.js";
import { studyCosts } from "./studies/costs.js";
import { studyFirstCall } from "./studies/first-call.js";
import { studyFirstResult } from "./studies/first-result.js";
import { studyMachine } from "./studies/machine.js";
import { studyMemory } from "./studies/memory.js";
import { readSettings, usage } from "./studies/settings.js";
import { studyShapes } from "./studies/shapes.js";
import { studyStalls } from "./studies/stalls.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const OFFER = {
  name: "web",
  studies: ["machine", "shapes", "costs", "first-call", "first-result", "stalls", "memory"],
  ofShapes: ["shapes"],
  shapes: ALL,
  quickShapes: QUICK,
  smokeShapes: QUICK.slice(0, 1),
  out: join(root, "build", "bench", "web.json"),
};
const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(usage(OFFER));
  process.exit(0);
}
const settings = readSettings(args, OFFER);
const { chromium } = await findToolchain({ need: ["chromium"], log: () => {} });
const server = await serve({ isolated: settings.isolated });
const openStage = () => Stage.open({ address: server.address, executablePath: chromium.path, hasGpu: false });
const stage = await openStage();

/**
 * @template T
 * @param {string} name
 * @param {() => Promise<T[]>} study
 * @returns {Promise<T[]>}
 */
async function when(name, study) {
  if (!settings.studies.includes(name)) return [];
  const start = performance.now();
  const found = await study();
  console.log(`▸ ${name} … ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return found;
}

try {
  const engines = ["heed@1", "heed@2"].map(participant);
  /** @type {Record<string, Readonly<Record<string, unknown>>>} */
  const heed = {};
  for (const one of engines.filter(isHeed)) heed[one.name] = await stage.about(one);
  const findings = {
    run: {
      date: new Date().toISOString().slice(0, 10),
      browser: stage.version,
      isolated: settings.isolated,
      summary: settings.pace.summary,
      machine: `${cpus()[0]?.model ?? "unknown processor"}, ${availableParallelism()} cores`,
      heed,
    },
    machine: await when("machine", () => studyMachine(stage, settings)),
    shapes: await when("shapes", () => studyShapes(stage, settings.shapes, participantsAt, settings, console.log)),
    costs: await when("costs", () => studyCosts(stage, settings)),
    firstCalls: await when("first-call", () => studyFirstCall(openStage, settings)),
    firstResults: await when("first-result", () => studyFirstResult(stage, settings)),
    stalls: await when("stalls", () => studyStalls(stage, settings)),
    memory: await when("memory", () => studyMemory(stage, settings)),
  };
  const out = resolve(settings.out);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(findings, null, 2)}\n`);
  console.log(`\n${report(findings)}\n\nall samples: ${out}`);
  if (settings.isSmoke) requireAll(findings.shapes);
} finally {
  await stage.end();
  server.close();
}
