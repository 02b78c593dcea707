// The first call in a fresh browser against warm calls: engines execute baseline code first, and replace a function by optimized
// code when it is called again.

import { participant } from "../lib/participants.js";
import { shapeOf } from "../lib/shapes.js";
import { median } from "../lib/summary.js";

const SHAPE = "8x2048x64";
const NAMES = ["heed@1", "heed@2", "ort-unfused@1", "ort-attention@1", "ort-mha@1"];
const QUICK_NAMES = ["heed@1", "ort-unfused@1"];
const BROWSERS = 3;
const WARM_CALLS = 5;

/**
 * @typedef {object} FirstCall
 * @property {string} name
 * @property {number} prepareMs medians over browsers
 * @property {number} firstMs
 * @property {number} warmMs
 * @property {number} ratio the median of each browser's own ratio
 */

/**
 * @param {() => Promise<import("../lib/stage.js").Stage>} openStage
 * @param {import("./settings.js").Settings} settings
 * @returns {Promise<FirstCall[]>}
 */
export async function studyFirstCall(openStage, settings) {
  const participants = (settings.isQuick ? QUICK_NAMES : NAMES).map(participant).filter(settings.takesPart);
  const taken = new Map(participants.map(({ name }) => [name, /** @type {Sample[]} */ ([])]));
  for (let browser = 0; browser < (settings.isQuick ? 1 : BROWSERS); browser++) {
    for (const one of participants) {
      // Pages of one browser may share compiled code.
      const stage = await openStage();
      try {
        taken.get(one.name)?.push(await sample(stage, one));
      } finally {
        await stage.end();
      }
    }
  }
  return [...taken].map(([name, samples]) => {
    const middle = (/** @type {(one: Sample) => number} */ of) => median(samples.map(of));
    return {
      name,
      prepareMs: middle(({ prepareMs }) => prepareMs),
      firstMs: middle(({ firstMs }) => firstMs),
      warmMs: middle(({ warmMs }) => warmMs),
      ratio: middle(({ firstMs, warmMs }) => firstMs / warmMs),
    };
  });
}

/** @typedef {{ prepareMs: number, firstMs: number, warmMs: number }} Sample */

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {import("../lib/participants.js").Participant} one
 * @returns {Promise<Sample>}
 */
async function sample(stage, one) {
  const prepareMs = await stage.ask(one, "prepare", shapeOf(SHAPE));
  const { ms: firstMs } = await stage.ask(one, "check", null);
  const warm = [];
  // The second call may still execute baseline code.
  await stage.ask(one, "sample", 1, 0);
  for (let call = 0; call < WARM_CALLS; call++) warm.push(await stage.ask(one, "sample", 1, 0));
  return { prepareMs, firstMs, warmMs: median(warm) };
}
