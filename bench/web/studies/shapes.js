// The main study: heed, its peers and the loops that show the roofline, at every shape.

import { isHeed, isPeak } from "../lib/participants.js";
import { measure } from "../lib/rounds.js";
import { flopsOf, keyBytesOf, scoreBytesOf, shapeOf } from "../lib/shapes.js";

/** @typedef {import("../lib/rounds.js").Result} Result */
/** @typedef {import("../lib/participants.js").Participant} Participant */
/** @typedef {import("../pages/peer.js").Problem} Problem */
/**
 * @typedef {object} ShapeStudy
 * @property {string} shape
 * @property {number} flops
 * @property {number} keyBytes
 * @property {readonly Result[]} results
 */

/** Peers hold all scores, and WebAssembly memory never shrinks: after a shape with more bytes of scores, pages are opened anew. */
const CLEAR_AFTER_BYTES = 60e6;

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {readonly string[]} shapes
 * @param {(shape: string) => readonly Participant[]} participantsAt
 * @param {import("./settings.js").Settings} settings
 * @param {(line: string) => void} log
 */
export async function studyShapes(stage, shapes, participantsAt, settings, log) {
  /** @type {ShapeStudy[]} */
  const studies = [];
  const forecast = new Forecast();
  for (const shape of shapes) {
    const problem = shapeOf(shape);
    const wanted = participantsAt(shape).filter(settings.takesPart);
    const expected = (/** @type {Participant} */ one) => (isHeed(one) ? 0 : forecast.msOf(one.name, problem));
    const isTooSlow = (/** @type {Participant} */ one) => expected(one) > settings.pace.patienceMs;
    const absent = wanted.filter(isTooSlow).map((one) => leftOut(one.name, expected(one)));
    const present = wanted.filter((one) => !isTooSlow(one));
    const measured = await measure(stage, problem, present, settings.pace);
    for (const { name, ms } of measured) forecast.learn(name, problem, ms);
    const results = [...measured, ...absent];
    studies.push({ shape, flops: flopsOf(problem), keyBytes: keyBytesOf(problem), results });
    log(`  ${shape}: ${results.filter(({ failure }) => failure === null).length} measured`);
    if (scoreBytesOf(problem) > CLEAR_AFTER_BYTES) {
      for (const one of wanted) if (!isPeak(one)) await stage.close(one);
    }
  }
  return studies;
}

/** Predicts how long a call takes from a participant's best speed so far. Most peers do all the work of causal problems, or more. */
class Forecast {
  /** Operations a millisecond. @type {Map<string, number>} */
  #speeds = new Map();

  /** Predicted milliseconds, 0 for a participant without samples. @param {string} name @param {Problem} problem */
  msOf(name, problem) {
    return wholeWorkOf(problem) / (this.#speeds.get(keyOf(name, problem)) ?? Number.POSITIVE_INFINITY);
  }

  /** @param {string} name @param {Problem} problem @param {number | null} ms */
  learn(name, problem, ms) {
    if (ms === null) return;
    const key = keyOf(name, problem);
    this.#speeds.set(key, Math.max(this.#speeds.get(key) ?? 0, wholeWorkOf(problem) / ms));
  }
}

/** @param {Problem} problem */
const wholeWorkOf = (problem) => flopsOf({ ...problem, causal: false });

/** @param {string} name @param {Problem} problem */
const keyOf = (name, { causal }) => `${name} ${causal}`;

/** @param {string} name @param {number} ms @returns {Result} */
function leftOut(name, ms) {
  const failure = `left out: about ${(ms / 1000).toFixed(1)} s a call`;
  return { name, ms: null, rate: null, samples: [], error: null, firstMs: null, prepareMs: null, failure };
}
