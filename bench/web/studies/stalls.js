// How long a call blocks the page's thread: the longest task of the page's event loop.

import { participant } from "../lib/participants.js";
import { reasonOf } from "../lib/reason.js";
import { shapeOf } from "../lib/shapes.js";
import { median } from "../lib/summary.js";

const SHAPE = "8x2048x64";
const NAMES = ["heed@1", "heed:feed@1", "ort-unfused@1", "ort-attention@1", "litert@1", "jax@1", "tfjs@1", "plain@1"];
const CALLS = 5;
const QUICK_CALLS = 2;

/**
 * @typedef {object} Stall
 * @property {string} name
 * @property {number | null} ms the longest task, median over warm calls
 * @property {string | null} failure
 */

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {import("./settings.js").Settings} settings
 * @returns {Promise<Stall[]>}
 */
export async function studyStalls(stage, settings) {
  const stalls = [];
  for (const one of NAMES.map(participant).filter(settings.takesPart)) {
    try {
      const ms = await longestTask(stage, one, shapeOf(SHAPE), settings.isQuick);
      stalls.push({ name: one.name, ms, failure: null });
    } catch (error) {
      stalls.push({ name: one.name, ms: null, failure: reasonOf(error) });
    }
    await stage.close(one);
  }
  return stalls;
}

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {import("../lib/participants.js").Participant} one
 * @param {import("../pages/peer.js").Problem | import("../pages/peer.js").Model} problem
 * @param {boolean} isQuick
 */
export async function longestTask(stage, one, problem, isQuick) {
  await stage.ask(one, "prepare", problem);
  await stage.ask(one, "sample", 1, 0);
  const samples = [];
  for (let call = 0; call < (isQuick ? QUICK_CALLS : CALLS); call++) samples.push(await stage.longestTask(one));
  return median(samples);
}
