// The cost of heed's options: the same call with and without them, alternating.

import { participant } from "../lib/participants.js";
import { measure } from "../lib/rounds.js";
import { shapeOf } from "../lib/shapes.js";

/**
 * @typedef {object} CostStudy
 * @property {string} shape
 * @property {readonly { name: string, keptShare: number }[]} options what was added, and the share of the scores that it keeps
 * @property {readonly import("../lib/rounds.js").Result[]} results
 */

const WINDOW_KEYS = 256;

/** A query sees itself and the keys before it, 256 in all: fewer at the start. @param {number} length */
function windowShare(length) {
  const kept = length * WINDOW_KEYS - (WINDOW_KEYS * (WINDOW_KEYS - 1)) / 2;
  return kept / length ** 2;
}

const CASES = [
  { shape: "12x512x64", options: [{ name: "heed:weights@1", keptShare: 1 }] },
  {
    shape: "8x1024x64",
    options: [
      { name: "heed:mask@1", keptShare: 1 },
      { name: "heed:bias@1", keptShare: 1 },
    ],
  },
  { shape: "1x8192x64", options: [{ name: "heed:window@1", keptShare: windowShare(8192) }] },
];

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {import("./settings.js").Settings} settings
 * @returns {Promise<CostStudy[]>}
 */
export async function studyCosts(stage, settings) {
  const studies = [];
  for (const { shape, options } of CASES) {
    const participants = ["heed@1", ...options.map(({ name }) => name)].map(participant);
    const results = await measure(stage, shapeOf(shape), participants, settings.pace);
    studies.push({ shape, options, results });
  }
  return studies;
}
