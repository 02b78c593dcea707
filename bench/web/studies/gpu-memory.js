// The bytes of the GPU buffers that a call creates, from short to long sequences. The scores of the longest alone would take 8 GiB, so
// buffers have to grow with the length and not with its square.

import { JUDGE, participant } from "../lib/participants.js";
import { shapeOf } from "../lib/shapes.js";
import { callAlone } from "./call-alone.js";

const SHAPES = ["8x1024x64", "8x2048x64", "8x4096x64", "8x8192x64", "8x16384x64"];
const QUICK_SHAPES = SHAPES.slice(0, 2);
const NAMES = ["heed-webgpu@1", "ort-webgpu-unfused@1", "jax-webgpu@1"];

/** Peers hold all scores, and take minutes for longer sequences. */
const MOST_KEYS_OF_PEERS = 2048;

/**
 * @typedef {object} GpuMemory
 * @property {string} shape
 * @property {string} name
 * @property {number | null} ms its first call
 * @property {number | null} error
 * @property {number | null} bytes of all buffers that existed at a time
 * @property {string | null} failure
 */

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {import("./settings.js").Settings} settings
 */
export async function studyGpuMemory(stage, settings) {
  /** @type {GpuMemory[]} */
  const studies = [];
  for (const shape of settings.isQuick ? QUICK_SHAPES : SHAPES) {
    const problem = shapeOf(shape);
    const verdict = await stage.ask(JUDGE, "judge", problem, null);
    for (const one of NAMES.map(participant).filter(settings.takesPart)) {
      if (one.page !== "heed" && problem.keys > MOST_KEYS_OF_PEERS) continue;
      studies.push({ shape, name: one.name, ...(await callAlone(stage, one, problem, verdict, "mostGpuBytes")) });
    }
  }
  return studies;
}
