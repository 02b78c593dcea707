// A call whose scores would take 4 GiB: whether it completes, and how much memory it takes beyond inputs and output.

import { JUDGE, participant } from "../lib/participants.js";
import { shapeOf } from "../lib/shapes.js";
import { callAlone } from "./call-alone.js";

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
    const held = 4 * problem.dim * (2 * problem.heads * problem.queries + 2 * problem.kvHeads * problem.keys);
    const verdict = await stage.ask(JUDGE, "judge", problem, null);
    for (const one of NAMES.map(participant).filter(settings.takesPart)) {
      const { bytes, ...rest } = await callAlone(stage, one, problem, verdict, "memoryBytes");
      const beyondBytes = bytes === null ? null : bytes - held;
      studies.push({ shape, name: one.name, beyondBytes, ...rest });
    }
  }
  return studies;
}
