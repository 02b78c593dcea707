// What the benches of pages have in common: reads the command line, opens a browser, measures, writes the JSON and prints the report.

import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { dirname, resolve } from "node:path";
import { findToolchain } from "../../../scripts/toolchain/find.js";
import { readSettings, usage } from "../studies/settings.js";
import { participant } from "./participants.js";
import { serve } from "./server.js";
import { Stage } from "./stage.js";

/** @typedef {import("../studies/settings.js").Settings} Settings */

/**
 * @typedef {object} Run
 * @property {string} date
 * @property {string} browser
 * @property {boolean} isolated
 * @property {string} machine
 * @property {import("./summary.js").Summary} summary
 * @property {Record<string, Readonly<Record<string, unknown>>>} heed what engines say of themselves, by participant
 */

/**
 * @typedef {object} Bench
 * @property {Stage} stage
 * @property {() => Promise<Stage>} openStage a browser of its own
 * @property {Settings} settings
 * @property {<T>(name: string, study: () => Promise<T[]>) => Promise<T[]>} when does a study if it is asked for
 */

export const aboutRun = () => ({
  date: new Date().toISOString().slice(0, 10),
  machine: `${cpus()[0]?.model ?? "unknown processor"}, ${availableParallelism()} cores`,
});

/** @param {string} file @param {unknown} findings @param {string} report */
export function tell(file, findings, report) {
  const out = resolve(file);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(findings, null, 2)}\n`);
  console.log(`\n${report}\n\nall samples: ${out}`);
}

export async function chromiumPath() {
  const { chromium } = await findToolchain({ need: ["chromium"], log: () => {} });
  return chromium.path;
}

/**
 * @template F
 * @param {import("../studies/settings.js").Offer} offer
 * @param {object} parts
 * @param {boolean} parts.hasGpu
 * @param {readonly string[]} parts.engines the names of those that say what they are
 * @param {(bench: Bench) => Promise<F>} parts.measure
 * @param {(findings: F & { run: Run }) => string} parts.report
 * @param {(findings: F) => void} parts.check throws if a moment of the bench shows that it does not work
 */
export async function runBench(offer, { hasGpu, engines, measure, report, check }) {
  const args = process.argv.slice(2);
  if (args.includes("--help")) {
    console.log(usage(offer));
    return;
  }
  const settings = readSettings(args, offer);
  const executablePath = await chromiumPath();
  const server = await serve({ isolated: settings.isolated });
  const openStage = () => Stage.open({ address: server.address, executablePath, hasGpu });
  const stage = await openStage();
  /** @type {Bench["when"]} */
  const when = async (name, study) => {
    if (!settings.studies.includes(name)) return [];
    const start = performance.now();
    const found = await study();
    console.log(`▸ ${name} … ${((performance.now() - start) / 1000).toFixed(1)} s`);
    return found;
  };
  try {
    /** @type {Run["heed"]} */
    const heed = {};
    for (const one of engines.map(participant)) heed[one.name] = await stage.about(one);
    const { isolated, pace } = settings;
    const run = { ...aboutRun(), browser: stage.version, isolated, summary: pace.summary, heed };
    const findings = { run, ...(await measure({ stage, openStage, settings, when })) };
    tell(settings.out, findings, report(findings));
    if (settings.isSmoke) check(findings);
  } finally {
    await stage.end();
    server.close();
  }
}
