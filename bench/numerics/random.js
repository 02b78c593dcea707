// Numbers that a seed gives alone: mulberry32.

export class Random {
  #state;

  /** @param {number} seed */
  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** From 0 to 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** From -1 to 1. */
  number() {
    return 2 * this.next() - 1;
  }

  /** A whole number. @param {number} end */
  below(end) {
    return Math.floor(this.next() * end);
  }

  /** @param {number} count */
  numbers(count) {
    return Float32Array.from({ length: count }, () => this.number());
  }

  /** Normally distributed. @param {number} count @param {number} [deviation] */
  normal(count, deviation = 1) {
    return Float32Array.from({ length: count }, () => {
      const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
      return deviation * radius * Math.cos(2 * Math.PI * this.next());
    });
  }
}
