// Time to first result: a page that has loaded no library imports one, sets it up and computes once.

import { participant } from "../lib/participants.js";
import { reasonOf } from "../lib/reason.js";
import { shapeOf } from "../lib/shapes.js";
import { median } from "../lib/summary.js";

const SHAPE = "8x128x64";
const NAMES = ["heed@1", "ort-unfused@1", "litert@1", "jax@1", "tfjs@1"];
const PAGES = 9;
const QUICK_PAGES = 3;

/**
 * @typedef {object} FirstResult
 * @property {string} name
 * @property {number | null} ms from the import to the output, median over pages
 * @property {string | null} failure
 */

/**
 * Each page has a profile of its own, so that none finds code that was compiled for another. Participants alternate.
 * @param {import("../lib/stage.js").Stage} stage
 * @param {import("./settings.js").Settings} settings
 * @returns {Promise<FirstResult[]>}
 */
export async function studyFirstResult(stage, settings) {
  const participants = NAMES.map(participant).filter(settings.takesPart);
  const found = participants.map((one) => ({ one, samples: /** @type {number[]} */ ([]), failure: failureOf() }));
  for (let page = 0; page < (settings.isQuick ? QUICK_PAGES : PAGES); page++) {
    for (const each of found.filter(({ failure }) => failure === null)) {
      try {
        each.samples.push(await stage.fresh(each.one, "firstResult", shapeOf(SHAPE)));
      } catch (error) {
        each.failure = reasonOf(error);
      }
    }
  }
  return found.map(({ one, samples, failure }) => ({
    name: one.name,
    ms: failure === null ? median(samples) : null,
    failure,
  }));
}

/** @returns {string | null} */
const failureOf = () => null;
