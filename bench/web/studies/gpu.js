// heed on a GPU beside its peers there, beside itself in WebAssembly, and left to choose. By Chromium's software adapter, unless the run
// has a GPU.

import { isHeed, participant } from "../lib/participants.js";
import { measure } from "../lib/rounds.js";
import { scoreBytesOf, shapeOf } from "../lib/shapes.js";

/** @typedef {import("../lib/rounds.js").Result} Result */
/**
 * @typedef {object} GpuStudy
 * @property {string} shape
 * @property {readonly Result[]} results
 */

/** Few: a processor that runs shaders takes seconds for what it does itself in a tenth of one. */
export const GPU_SHAPES = [
  "1x64x64",
  "8x128x64",
  "8x128x64c",
  "12x512x64",
  "12x512x64c",
  "8x1024x64",
  "8x77:1024x64",
  "8x1:4096x64",
  "32/8x1:4096x128",
];

const NAMES = ["heed-gpu@2", "heed@2", "heed-auto@2", "ort-mha-gpu@1", "ort-unfused-gpu@1", "jax-gpu@1"];

/** Beyond it peers that hold all scores are not asked: they take seconds a call, and their pages do not come back. */
const MOST_SCORE_BYTES = 40e6;

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {import("./settings.js").Settings} settings
 * @param {(line: string) => void} log
 * @returns {Promise<GpuStudy[]>}
 */
export async function studyGpu(stage, settings, log) {
  const studies = [];
  const shapes = settings.isQuick ? GPU_SHAPES.slice(0, 3) : GPU_SHAPES;
  for (const shape of settings.asked.length > 0 ? settings.asked : shapes) {
    const problem = shapeOf(shape);
    const isLarge = scoreBytesOf(problem) > MOST_SCORE_BYTES;
    const present = NAMES.map(participant)
      .filter(settings.takesPart)
      .filter((one) => isHeed(one) || !isLarge);
    studies.push({ shape, results: await measure(stage, problem, present, settings.pace) });
    log(`  gpu ${shape}`);
  }
  return studies;
}
