// A sequence whose scores would take 4 GiB: whether it completes, and what memory it takes beyond inputs and output.

import { JUDGE, participant } from "../lib/participants.js";
import { reasonOf } from "../lib/reason.js";
import { shapeOf } from "../lib/shapes.js";

const SHAPES = ["1x32768x64", "1x32768x64c"];
const NAMES = ["heed@1", "ort-unfused@1"];

/**
 * @typedef {object} MemoryStudy
 * @property {string} shape
 * @property {string} name
 * @property {number | null} ms its first call
 * @property {number | null} error
 * @property {number | null} beyondBytes all WebAssembly memory of the page, less the inputs and the output
 * @property {string | null} failure
 */

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {import("./settings.js").Settings} settings
 */
export async function studyMemory(stage, settings) {
  /** @type {MemoryStudy[]} */
  const studies = [];
  for (const shape of settings.isQuick ? SHAPES.slice(0, 1) : SHAPES) {
    const problem = shapeOf(shape);
    const verdict = await stage.ask(JUDGE, "judge", problem, null);
    for (const one of NAMES.map(participant).filter(settings.takesPart)) {
      studies.push({ shape, name: one.name, ...(await attempt(stage, one, problem, verdict)) });
    }
  }
  return studies;
}

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {import("../lib/participants.js").Participant} one
 * @param {import("../pages/peer.js").Problem} problem
 * @param {import("../pages/judge.js").Verdict} verdict
 */
async function attempt(stage, one, problem, verdict) {
  // A page of its own: memory that grew before would count.
  await stage.close(one);
  try {
    await stage.ask(one, "prepare", problem);
    const { ms, error } = await stage.ask(one, "check", verdict);
    const held = 4 * problem.dim * (2 * problem.heads * problem.queries + 2 * problem.kvHeads * problem.keys);
    const beyondBytes = (await stage.ask(one, "memoryBytes")) - held;
    return { ms, error, beyondBytes, failure: null };
  } catch (error) {
    return { ms: null, error: null, beyondBytes: null, failure: reasonOf(error) };
  } finally {
    await stage.close(one);
  }
}
