// Random numbers from a seed, by the generator of dropout (docs/semantics/attention.md) in its row 0.

export class SeededRandom {
  readonly #seed: number;
  #drawn = 0;

  /** A whole number of 32 bits. */
  constructor(seed: number) {
    this.#seed = mix(mix((seed + 0x9e3779b9) | 0));
  }

  /** A number from 0 to below 1, with 53 bits. */
  next(): number {
    const high = this.word();
    return (high * 2 ** 21 + (this.word() >>> 11)) / 2 ** 53;
  }

  /** A whole number of 32 bits. */
  word(): number {
    const word = mix(this.#seed ^ Math.imul(this.#drawn, 0x9e3779b9));
    this.#drawn += 1;
    return word >>> 0;
  }
}

/** "lowbias32" of github.com/skeeto/hash-prospector. */
function mix(number: number): number {
  let x = number | 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return x ^ (x >>> 16);
}
