// The dropout of layers in a pass of gradients: seeds in the order of the calls, for each block of its own.

import type { Tensor } from "../api/tensor.js";
import { SeededRandom } from "../layers/generate/random.js";
import type { Drops, Scope } from "../layers/scope.js";
import { DROPOUT } from "../operations/training/elementwise.js";

export class SeededDrops implements Drops {
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  seed(): number {
    return this.#random.word();
  }

  /** A block that is computed again drops the same places. */
  fork(): () => Drops {
    const seed = this.seed();
    return () => new SeededDrops(seed);
  }

  drop(scope: Scope, x: Tensor, p: number): Promise<Tensor> {
    return scope.make(DROPOUT, { x: scope.rows(x).resident, p: Math.fround(p), seed: this.seed() }, x.shape);
  }
}
