// A call whose scores would take 4 GiB: whether it completes, and how much memory it takes beyond inputs and output.

import { JUDGE, participant } from "../lib/participants.js";
import { shapeOf } from "../lib/shapes.js";
import { callAlone } from "./call-alone.js";

const SHAPES = ["1x32768x64", "1x32768x64c"];
const NAMES = ["heed@1", "ort-unfused@1"];

/** The backward pass of as many keys as fit its scores, 1 GiB, into a WebAssembly memory. */
const BACKWARD = "1x16384x64";
const SMALL = shapeOf("1x1x1");
const BACKWARD_NAMES = ["heed:backward@1", "heed:backward@2", "jax:backward@1"];

/**
 * @typedef {object} MemoryStudy
 * @property {string} shape
 * @property {string} name
 * @property {number | null} ms its first call of that shape
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
    for (const one of NAMES.map(participant).filter(settings.takesPart))
      studies.push(await memoryOf(stage, one, shape, verdict, 1));
  }
  return studies;
}

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {import("./settings.js").Settings} settings
 */
export async function studyBackwardMemory(stage, settings) {
  const studies = [];
  for (const one of BACKWARD_NAMES.map(participant).filter(settings.takesPart))
    studies.push(await memoryOf(stage, one, BACKWARD, null, 2));
  return studies;
}

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {import("../lib/participants.js").Participant} one
 * @param {string} shape
 * @param {import("../pages/judge.js").Verdict | null} verdict
 * @param {number} directions 2: with the backward pass, the output and each input have a gradient
 * @returns {Promise<MemoryStudy>}
 */
async function memoryOf(stage, one, shape, verdict, directions) {
  const problem = shapeOf(shape);
  const held = 8 * directions * problem.dim * (problem.heads * problem.queries + problem.kvHeads * problem.keys);
  const { bytes, ...rest } = await callAlone(
    stage,
    one,
    problem,
    verdict,
    "memoryBytes",
    directions === 2 ? SMALL : null,
  );
  return { shape, name: one.name, beyondBytes: bytes === null ? null : bytes - held, ...rest };
}
