// Whole steps of training, alternating; then the memory of each page, and the longest task of its thread during a step.

import { modelOf, stepFlopsOf } from "../lib/models.js";
import { learners } from "../lib/participants.js";
import { reasonOf } from "../lib/reason.js";
import { measure } from "../lib/rounds.js";
import { longestTask } from "./stalls.js";

/**
 * @typedef {object} Learnt
 * @property {number | null} bytes all WebAssembly memory of the page
 * @property {number | null} taskMs the longest task of the page's thread
 * @property {number | null} apart the largest difference of a loss from that of the first participant
 */
/** @typedef {import("../lib/rounds.js").Result & Learnt} TrainingResult */
/**
 * @typedef {object} TrainingStudy
 * @property {string} model
 * @property {number} flops
 * @property {readonly TrainingResult[]} results
 */

/** A step may take this many times as long as a call of attention. */
const LONGER = 20;
/** The longest task is looked for in shorter steps. */
const LONGEST_STEP_MS = 4000;

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {readonly string[]} models
 * @param {import("./settings.js").Settings} settings
 * @param {(line: string) => void} log
 */
export async function studyTraining(stage, models, settings, log) {
  const { budgetMs, patienceMs } = settings.pace;
  const pace = { ...settings.pace, budgetMs: LONGER * budgetMs, patienceMs: LONGER * patienceMs };
  /** @type {TrainingStudy[]} */
  const studies = [];
  for (const name of models) {
    const model = modelOf(name);
    const participants = learners().filter(settings.takesPart);
    /** @type {TrainingResult[]} */
    const results = [];
    /** @type {readonly number[]} */
    let first = [];
    for (const result of await measure(stage, model, participants, pace)) {
      const one = participants[results.length];
      if (one === undefined) throw new Error("a result has no participant");
      const learnt = { bytes: null, taskMs: null, apart: null };
      results.push({ ...result, ...learnt });
      if (result.failure !== null) continue;
      try {
        const losses = await stage.ask(one, "losses");
        if (first.length === 0) first = losses;
        const bytes = await stage.ask(one, "memoryBytes");
        const isShort = (result.ms ?? 0) < LONGEST_STEP_MS;
        const taskMs = isShort ? await longestTask(stage, one, model, settings.isQuick) : null;
        results[results.length - 1] = { ...result, bytes, taskMs, apart: distance(first, losses) };
      } catch (error) {
        results[results.length - 1] = { ...result, ...learnt, failure: reasonOf(error) };
      }
      await stage.close(one);
    }
    studies.push({ model: name, flops: stepFlopsOf(model), results });
    log(`  ${name}: ${results.filter(({ failure }) => failure === null).length} measured`);
  }
  return studies;
}

/** Over the steps that both have taken. @param {readonly number[]} a @param {readonly number[]} b */
function distance(a, b) {
  const common = a.slice(0, b.length);
  return Math.max(...common.map((loss, step) => Math.abs(loss - (b[step] ?? Number.NaN))));
}
