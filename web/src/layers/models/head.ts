// The heads of encoders: a transform of hidden states, where a model has one, and logits of words or of labels.

import type { Heed } from "../../api/heed.js";
import type { Tensor } from "../../api/tensor.js";
import type { Activation } from "../../operations/pointwise.js";
import { Layer } from "../layer.js";
import { Linear } from "../linear.js";
import { LayerNorm } from "../norm.js";
import type { Scope } from "../scope.js";

/** What comes before the logits. */
export interface HeadTransform {
  readonly activation: Activation;
  readonly bias?: boolean;
  readonly norm?: { readonly epsilon: number; readonly bias?: boolean };
}

export interface HeadOptions {
  readonly dim: number;
  /** The number of words or labels. */
  readonly count: number;
  readonly bias?: boolean;
  readonly transform: HeadTransform | null;
  /** The share that `gradients` drops of what goes in, and of what the last layer takes where another comes before it. Default 0. */
  readonly dropout?: readonly [first: number, last: number] | undefined;
  readonly engine: Heed | undefined;
}

/** Parameters: those of `dense` and `norm`, where it has them, and of `decoder`. */
export class Head extends Layer {
  readonly #dense: Linear | null;
  readonly #norm: LayerNorm | null;
  readonly #decoder: Linear;
  readonly #activation: Activation;
  readonly #dropout: readonly [number, number];

  constructor(where: string, { dim, count, bias = true, transform, dropout = [0, 0], engine }: HeadOptions) {
    super(where, engine);
    const { activation = "none", norm, bias: denseBias = true } = transform ?? {};
    this.#activation = activation;
    this.#dropout = dropout;
    this.#dense =
      transform && this.part("dense", new Linear({ inFeatures: dim, outFeatures: dim, bias: denseBias, engine }));
    this.#norm = norm === undefined ? null : this.part("norm", new LayerNorm({ shape: dim, ...norm, engine }));
    this.#decoder = this.part("decoder", new Linear({ inFeatures: dim, outFeatures: count, bias, engine }));
  }

  /** @internal [..., dim] to [..., count]. */
  compute(scope: Scope, hidden: Tensor): Promise<Tensor> {
    return scope.one(async (inner) => {
      const activation = this.#activation;
      const [first, last] = this.#dropout;
      const x = await inner.dropout(hidden, first);
      const dense = this.#dense === null ? x : await this.#dense.compute(inner, x, { activation });
      const even = this.#norm === null ? dense : await this.#norm.compute(inner, dense);
      return this.#decoder.compute(inner, this.#dense === null ? even : await inner.dropout(even, last));
    });
  }
}
