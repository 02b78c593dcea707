// Reads a shape's results on the GPU: the fastest participant that is right, the time of the roofline, what `auto` chose.

import { quotient } from "../../table.js";
import { msOf, rateOf, WRONG } from "./findings.js";

/** @typedef {import("./rounds.js").Result} Result */
/** @typedef {import("../studies/shapes.js").ShapeStudy} ShapeStudy */
/** @typedef {import("../studies/crossover.js").Crossover} Crossover */

export const HEED = "heed-webgpu@1";

/** @param {Result} result */
export const isWrong = ({ error }) => error !== null && !(error < WRONG);

/** @param {readonly Result[]} results */
function fastest(results) {
  const timed = results.flatMap((one) => (one.ms === null || isWrong(one) ? [] : [{ ...one, ms: one.ms }]));
  return timed.reduce(
    (/** @type {typeof timed[number] | null} */ best, one) => (best === null || one.ms < best.ms ? one : best),
    null,
  );
}

/** The fastest peer that is right. @param {ShapeStudy} study */
export const bestGpuPeer = ({ results }) => fastest(results.filter(({ name }) => !name.startsWith("heed")));

/** How many times as fast heed is as that peer. @param {ShapeStudy} study */
export const gpuLead = (study) => quotient(bestGpuPeer(study)?.ms ?? null, msOf(study, HEED));

/** Milliseconds at the roofline: the operations at the peak or the bytes at the read bandwidth, whichever take longer. @param {ShapeStudy} study */
export function rooflineMsOf(study) {
  const [chain, read] = [rateOf(study, "chain-webgpu@1"), rateOf(study, "read-webgpu@1")];
  return chain === null || read === null ? null : Math.max(study.flops / chain, study.keyBytes / read) * 1000;
}

/** The time of `auto` over that of the better backend. @param {Crossover} study */
export function autoOverBetter(study) {
  const better = fastest(study.results.filter(({ name }) => name !== "heed-auto@2"));
  return quotient(msOf(study, "heed-auto@2"), better?.ms ?? null);
}
