// Reads a shape's results: speeds, the best peer, and the shares of the roofline.

import { quotient } from "../../table.js";

/** @typedef {import("../studies/shapes.js").ShapeStudy} ShapeStudy */
/** @typedef {import("./rounds.js").Result} Result */

/** @typedef {{ readonly results: readonly { name: string, ms: number | null, rate?: number | null }[] }} Timed */

/** @param {Timed} study @param {string} name */
export const msOf = ({ results }, name) => results.find((one) => one.name === name)?.ms ?? null;

/** @param {Timed} study @param {string} name */
export const rateOf = ({ results }, name) => results.find((one) => one.name === name)?.rate ?? null;

/** A larger error is a wrong result: rounding stays a hundred times below this, and wrong kernels far above. */
export const WRONG = 1e-4;

/**
 * Throws unless all of these took part and were right.
 * @param {readonly ShapeStudy[]} studies @param {(name: string) => boolean} isRequired
 */
export function requireAll(studies, isRequired = () => true) {
  const wrong = studies.flatMap(({ shape, results }) =>
    results
      .filter(({ name, failure, error }) => isRequired(name) && (failure !== null || !((error ?? 0) <= WRONG)))
      .map(({ name, failure, error }) => `${name} at ${shape}: ${failure ?? `off by ${error}`}`),
  );
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
}

/** Floating-point operations a second. @param {Timed & { flops: number }} study @param {string} name */
export const speedOf = (study, name) => quotient(1000 * study.flops, msOf(study, name));

/**
 * The fastest whose name begins so, inputs resident as heed's are.
 * @param {ShapeStudy} study @param {number} threads @param {string} beginning "" for every peer
 */
export function bestPeer(study, threads, beginning = "") {
  const peers = study.results.filter(
    ({ name, ms }) =>
      ms !== null &&
      !name.startsWith("heed") &&
      !name.includes(":feed") &&
      name.startsWith(beginning) &&
      // A peer that knows one thread only is still a peer to two.
      (name.endsWith(`@${threads}`) || name.endsWith("@1")),
  );
  return peers.reduce(
    (/** @type {Result | null} */ best, one) => (best === null || (one.ms ?? 0) < (best.ms ?? 0) ? one : best),
    null,
  );
}

/** How many times as fast heed is as the best peer. @param {ShapeStudy} study @param {number} threads @param {string} beginning */
export const lead = (study, threads, beginning = "") =>
  quotient(bestPeer(study, threads, beginning)?.ms ?? null, msOf(study, `heed@${threads}`));

/** The share of the tile loop's rate, which is the compute peak, that heed reaches. @param {ShapeStudy} study @param {number} threads @param {"simd" | "relaxed"} variant */
export const ofPeak = (study, threads, variant) =>
  quotient(
    speedOf(study, `${variant === "simd" ? "heed-simd" : "heed"}@${threads}`),
    rateOf(study, `tile-${variant}@${threads}`),
  );

/** The speed-up by the second thread. @param {Timed} study */
export const scaling = (study, who = "heed") => quotient(msOf(study, `${who}@1`), msOf(study, `${who}@2`));

/** The share of the read bandwidth that heed reaches over the same K and V. @param {ShapeStudy} study @param {number} threads */
export const ofBandwidth = (study, threads) =>
  quotient(quotient(1000 * study.keyBytes, msOf(study, `heed@${threads}`)), rateOf(study, `read@${threads}`));
