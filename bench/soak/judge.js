// Whether something grew: samples of a long run, one after the other.

/**
 * @typedef {object} Sample
 * @property {number} minutes since the load began
 * @property {number} heap bytes in use of JavaScript's heap, after a collection
 * @property {number} buffers bytes of typed arrays and WebAssembly memories
 * @property {number} handles what keeps the process alive: workers, timers, sockets
 * @property {number} engine bytes of the engine's memory
 * @property {number} workers bytes of its workers' memories
 * @property {number} tensors that live in it
 */

/** What of each may come and go from one sample to the next. */
const SLACK = { heap: 2 ** 21, buffers: 2 ** 21, handles: 0, engine: 2 ** 19, workers: 2 ** 19, tensors: 0 };

/**
 * What has grown: the least of the last third is above the least of the second one. The first third warms up, and most come and go with
 * the collector.
 * @param {readonly Sample[]} samples
 */
export function grown(samples) {
  const third = Math.floor(samples.length / 3);
  const [before, after] = [samples.slice(third, -third), samples.slice(-third)];
  return Object.entries(SLACK).flatMap(([name, slack]) => {
    const least = (/** @type {readonly Sample[]} */ part) =>
      Math.min(...part.map((one) => one[/** @type {keyof Sample} */ (name)]));
    return least(after) > least(before) + slack ? [`${name} grew from ${least(before)} to ${least(after)}`] : [];
  });
}
