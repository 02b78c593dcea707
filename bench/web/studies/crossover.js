// The time of `auto` over the better backend at each shape. Its page has opened the GPU and measured both backends before.

import { participant } from "../lib/participants.js";
import { measure } from "../lib/rounds.js";
import { shapeOf } from "../lib/shapes.js";

const NAMES = ["heed-wasm@2", "heed-webgpu@2", "heed-auto@2"];

/** Large enough for `auto` to open the GPU. */
const OPENING = "8x1024x64";

/** @typedef {{ shape: string, results: readonly import("../lib/rounds.js").Result[] }} Crossover */

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {import("./settings.js").Settings} settings
 * @returns {Promise<Crossover[]>}
 */
export async function studyCrossover(stage, settings) {
  const all = NAMES.map(participant);
  await measure(stage, shapeOf(OPENING), all, { ...settings.pace, rounds: 1 });
  const studies = [];
  for (const shape of settings.shapes) {
    studies.push({ shape, results: await measure(stage, shapeOf(shape), all, settings.pace) });
  }
  return studies;
}
