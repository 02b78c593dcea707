// Models of usual shapes in Chromium, by heed/layers: milliseconds a pass, what its parts take alone, a token beside plain reading of the
// weights, and how long the page's thread is blocked; and models from their files by heed/models beside peers. On an isolated page, on one that
// is not, and under a policy without workers.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { aboutRun, chromiumPath, tell } from "./lib/bench.js";
import { modelsReport } from "./lib/models-report.js";
import { participant } from "./lib/participants.js";
import { measure } from "./lib/rounds.js";
import { serve } from "./lib/server.js";
import { shapeOf } from "./lib/shapes.js";
import { Stage } from "./lib/stage.js";
import { LOADED_TASKS, studyLoaded } from "./studies/loaded.js";
import { outOf } from "./studies/settings.js";

/** @typedef {import("./lib/participants.js").Participant} Participant */

/**
 * @typedef {object} ModelStudy
 * @property {string} shape
 * @property {string} page isolated, not isolated, no workers
 * @property {number} threads
 * @property {number} weightBytes
 * @property {readonly import("./lib/rounds.js").Result[]} results
 * @property {Record<string, number>} longestTasks milliseconds, by participant
 */

const SHAPES = ["llama-token", "llama-prefill", "gpt2", "bert"];
const PARTS = ["products", "attention", "rest", "copying"];
const PAGES = [
  { page: "isolated", isolated: true, worker: "shared-memory", threads: [1, 2] },
  { page: "not isolated", isolated: false, worker: "private-memory", threads: [1, 2] },
  { page: "no workers", isolated: false, policy: "worker-src 'none'", worker: null, threads: [1] },
];
/** Models have no problem of attention. */
const NONE = shapeOf("1x1x1");

const { values } = parseArgs({
  options: {
    before: { type: "string" },
    only: { type: "string" },
    page: { type: "string" },
    threads: { type: "string" },
    rounds: { type: "string", default: "9" },
    smoke: { type: "boolean", default: false },
    out: { type: "string", default: outOf("models") },
  },
});
const isSmoke = values.smoke;
const only = values.only?.split(",") ?? [...(isSmoke ? SHAPES.slice(0, 1) : SHAPES), ...LOADED_TASKS];
const shapes = only.filter((name) => !LOADED_TASKS.some((task) => task === name));
const tasks = LOADED_TASKS.filter((task) => only.includes(task));
const pages = PAGES.filter(({ page }) => values.page === undefined || page === values.page);
const hasPeers = existsSync(new URL("node_modules/@huggingface/transformers", import.meta.url));
const dists = values.before === undefined ? ["dist"] : ["before", "dist"];
const pace = /** @type {const} */ ({
  rounds: isSmoke ? 1 : Number(values.rounds),
  budgetMs: isSmoke ? 1 : 3000,
  summary: "median",
  patienceMs: 10_000,
});
const SIZE = isSmoke ? "small" : "whole";
const STALL_CALLS = isSmoke ? 1 : 5;

/** @param {string} name @param {string} dist @param {number} threads @param {string} part @returns {Participant} */
const model = (name, dist, threads, part) => ({
  name: `${dist} ${part}`,
  page: "model",
  threads,
  options: { name, dist, part, size: SIZE },
});

const executablePath = await chromiumPath();
/** @type {ModelStudy[]} */
const studies = [];
/** @type {import("./studies/loaded.js").LoadedStudy[]} */
const loaded = [];
let browser = "";
for (const { page, worker, threads: all, ...headers } of pages) {
  const counts = all.filter((count) => values.threads === undefined || String(count) === values.threads);
  const server = await serve({
    ...headers,
    ...(values.before !== undefined && { others: { before: resolve(values.before) } }),
  });
  const stage = await Stage.open({ address: server.address, executablePath, hasGpu: false });
  browser = stage.version;
  try {
    for (const shape of shapes) {
      for (const threads of counts) studies.push(await study(stage, { shape, page, worker, threads }));
    }
    for (const task of tasks) {
      for (const threads of isSmoke ? counts.slice(0, 1) : counts) {
        const found = await studyLoaded(stage, {
          task,
          page,
          threads,
          size: SIZE,
          // A moment of each peer is enough to show that it runs.
          hasPeers: hasPeers && (isSmoke ? worker === "shared-memory" : worker !== null),
          pace,
        });
        tellLine(task, page, threads, found.results);
        if (isSmoke) requireAllRun(found.results);
        loaded.push(found);
      }
    }
  } finally {
    await stage.end();
    server.close();
  }
}

/** @param {Stage} stage @param {{ shape: string, page: string, worker: string | null, threads: number }} at @returns {Promise<ModelStudy>} */
async function study(stage, { shape, page, worker, threads }) {
  const wholes = dists.map((dist) => model(shape, dist, threads, "all"));
  let weightBytes = Number.NaN;
  for (const one of wholes) {
    const about = await stage.about(one);
    if (about["worker"] !== worker) throw new Error(`${page}: ${JSON.stringify(about)}`);
    weightBytes = Number(about["weightBytes"]);
  }
  const readers = worker === null ? [] : [participant(`read-memory@${threads}`)];
  const results = await measure(stage, NONE, [...wholes, ...readers], pace);
  /** @type {Record<string, number>} */
  const longestTasks = {};
  for (const one of wholes) {
    const tasks = [];
    for (let call = 0; call < STALL_CALLS; call++) tasks.push(await stage.longestTask(one));
    longestTasks[one.name] = Math.max(...tasks);
  }
  for (const one of [...wholes, ...readers]) await stage.close(one);
  if (worker === "shared-memory") results.push(...(await studyParts(stage, shape, threads)));
  requireAllRun(results);
  tellLine(shape, page, threads, results);
  return { shape, page, threads, weightBytes, results, longestTasks };
}

/** @param {string} what @param {string} page @param {number} threads @param {ModelStudy["results"]} results */
function tellLine(what, page, threads, results) {
  const figures = results.map(
    ({ name, ms, rate, failure }) => `${name} ${failure ?? (ms ?? (rate ?? 0) / 1e9).toFixed(2)}`,
  );
  console.log(`▸ ${what}, ${page}, ${threads} threads: ${figures.join(", ")}`);
}

/** @param {ModelStudy["results"]} results */
function requireAllRun(results) {
  const failed = results.find(({ failure }) => failure !== null);
  if (failed !== undefined) throw new Error(`${failed.name}: ${failed.failure}`);
}

/** @param {Stage} stage @param {string} shape @param {number} threads */
async function studyParts(stage, shape, threads) {
  const results = [];
  for (const part of PARTS) {
    const both = dists.map((dist) => model(shape, dist, threads, part));
    results.push(...(await measure(stage, NONE, both, pace)));
    for (const one of both) await stage.close(one);
  }
  return results;
}

const findings = { ...aboutRun(), browser, studies, loaded };
tell(values.out, findings, modelsReport(findings));
