// Reads a shape's results: speeds, the best peer, and the shares of the roofline.

/** @typedef {import("../studies/shapes.js").ShapeStudy} ShapeStudy */
/** @typedef {import("./rounds.js").Result} Result */

/** @param {ShapeStudy} study @param {string} name @returns {number | null} */
export const msOf = (study, name) => study.results.find((one) => one.name === name)?.ms ?? null;

/** @param {ShapeStudy} study @param {string} name @returns {number | null} */
export const rateOf = (study, name) => study.results.find((one) => one.name === name)?.rate ?? null;

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

/** Floating-point operations a second. @param {ShapeStudy} study @param {string} name */
export function speedOf(study, name) {
  const ms = msOf(study, name);
  return ms === null ? null : (study.flops / ms) * 1000;
}

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
export function lead(study, threads, beginning = "") {
  const ms = msOf(study, `heed@${threads}`);
  const best = bestPeer(study, threads, beginning)?.ms ?? null;
  return ms === null || best === null ? null : best / ms;
}

/** The share of the tile loop's rate, which is the compute peak, that heed reaches. @param {ShapeStudy} study @param {number} threads @param {"simd" | "relaxed"} variant */
export function ofPeak(study, threads, variant) {
  const speed = speedOf(study, `${variant === "simd" ? "heed-simd" : "heed"}@${threads}`);
  const tile = rateOf(study, `tile-${variant}@${threads}`);
  return speed === null || tile === null ? null : speed / tile;
}

/** The speed-up by the second thread. @param {ShapeStudy} study */
export function scaling(study) {
  const one = msOf(study, "heed@1");
  const two = msOf(study, "heed@2");
  return one === null || two === null ? null : one / two;
}

/** The share of the read bandwidth that heed reaches over the same K and V. @param {ShapeStudy} study @param {number} threads */
export function ofBandwidth(study, threads) {
  const ms = msOf(study, `heed@${threads}`);
  const read = rateOf(study, `read@${threads}`);
  return ms === null || read === null ? null : ((study.keyBytes / ms) * 1000) / read;
}
