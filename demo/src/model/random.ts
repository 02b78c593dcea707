// Random numbers that a seed decides, so that a picture can be had again, here and elsewhere.

/** Uniform in [0, 1): "mulberry32", a counter whose bits are mixed. */
export function uniform(seed: number): () => number {
  let counter = seed | 0;
  return () => {
    counter = (counter + 0x6d2b79f5) | 0;
    let bits = Math.imul(counter ^ (counter >>> 15), counter | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Normal, mean 0 and variance 1, by the method of Box and Muller. */
export function normal(seed: number): () => number {
  const next = uniform(seed);
  return () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

/** As short as a number can be said aloud. */
export const twoDecimals = (value: number): number => Math.round(value * 100) / 100;
