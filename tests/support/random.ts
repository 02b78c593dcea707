// Seeded randomness: the same numbers on every machine, and the seed in every message.

/** HEED_SEED, or none, as in a browser. */
const OF_RUN = Number(globalThis.process?.env?.["HEED_SEED"] ?? 0);

export class Random {
  #state: number;

  constructor(
    readonly seed: number,
    ofRun = OF_RUN,
  ) {
    this.#state = (seed + Math.imul(ofRun, 0x9e3779b1)) >>> 0;
  }

  /** Uniform in [0, 1): mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `from` to `to`, both included. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.whole(0, choices.length - 1)] ?? choices[0];
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Normally distributed floats (Box and Muller), as activations are. */
  floats(count: number, deviation = 1): Float32Array {
    return Float32Array.from({ length: count }, () => {
      const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
      return deviation * radius * Math.cos(2 * Math.PI * this.next());
    });
  }

  /** Bytes 0 and 1. */
  bits(count: number, probability = 0.7): Uint8Array {
    return Uint8Array.from({ length: count }, () => (this.chance(probability) ? 1 : 0));
  }
}
