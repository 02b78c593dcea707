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
  readonly engine: Heed | undefined;
}

/** Parameters: those of `dense` and `norm`, where it has them, and of `decoder`. */
export class Head extends Layer {
  readonly #dense: Linear | null;
  readonly #norm: LayerNorm | null;
  readonly #decoder: Linear;
  readonly #activation: Activation;

  constructor(where: string, { dim, count, bias = true, transform, engine }: HeadOptions) {
    super(where, engine);
    const { activation = "none", norm, bias: denseBias = true } = transform ?? {};
    this.#activation = activation;
    this.#dense =
      transform && this.part("dense", new Linear({ inFeatures: dim, outFeatures: dim, bias: denseBias, engine }));
    this.#norm = norm === undefined ? null : this.part("norm", new LayerNorm({ shape: dim, ...norm, engine }));
    this.#decoder = this.part("decoder", new Linear({ inFeatures: dim, outFeatures: count, bias, engine }));
  }

  /** @internal [..., dim] to [..., count]. */
  compute(scope: Scope, hidden: Tensor): Promise<Tensor> {
    return scope.one(async (inner) => {
      const activation = this.#activation;
      const dense = this.#dense === null ? hidden : await this.#dense.compute(inner, hidden, { activation });
      const even = this.#norm === null ? dense : await this.#norm.compute(inner, dense);
      return this.#decoder.compute(inner, even);
    });
  }
}
