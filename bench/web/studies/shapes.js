// The main study: heed, its peers and the loops that limit it, at every shape.

import { isCeiling, participantsAt } from "../lib/participants.js";
import { measure } from "../lib/rounds.js";
import { flopsOf, keyBytesOf, scoreBytesOf, shapeOf } from "../lib/shapes.js";

/** @typedef {import("../lib/rounds.js").Result} Result */
/**
 * @typedef {object} ShapeStudy
 * @property {string} shape
 * @property {number} flops
 * @property {number} keyBytes
 * @property {readonly Result[]} results
 */

/** Peers hold all scores, and WebAssembly memory never shrinks: after a shape with so many bytes of them, pages are opened afresh. */
const CLEAR_AFTER_BYTES = 60e6;

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {readonly string[]} shapes
 * @param {import("./settings.js").Settings} settings
 * @param {(line: string) => void} log
 */
export async function studyShapes(stage, shapes, settings, log) {
  /** @type {ShapeStudy[]} */
  const studies = [];
  /** Operations a millisecond at the last shape, by name. @type {Map<string, number>} */
  const speeds = new Map();
  for (const shape of shapes) {
    const problem = shapeOf(shape);
    const flops = flopsOf(problem);
    const wanted = participantsAt(shape).filter(settings.takesPart);
    const isPatient = ({ name = "" }) => flops / (speeds.get(name) ?? Number.POSITIVE_INFINITY) <= settings.patienceMs;
    const results = await measure(stage, problem, wanted.filter(isPatient), settings.pace);
    for (const one of wanted.filter((candidate) => !isPatient(candidate))) {
      results.push(leftOut(one.name, flops / (speeds.get(one.name) ?? Number.NaN)));
    }
    for (const { name, ms } of results) if (ms !== null) speeds.set(name, flops / ms);
    studies.push({ shape, flops, keyBytes: keyBytesOf(problem), results });
    log(`  ${shape}: ${results.filter(({ failure }) => failure === null).length} measured`);
    if (scoreBytesOf(problem) > CLEAR_AFTER_BYTES) {
      for (const one of wanted) if (!isCeiling(one)) await stage.close(one);
    }
  }
  return studies;
}

/** @param {string} name @param {number} ms @returns {Result} */
function leftOut(name, ms) {
  const failure = `left out: about ${(ms / 1000).toFixed(1)} s a call`;
  return { name, ms: null, rate: null, samples: [], error: null, firstMs: null, prepareMs: null, failure };
}
