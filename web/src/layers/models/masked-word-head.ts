// BERT's head for masked words: a transform of the encoder's output, and logits by the token embeddings.

import type { Heed } from "../../api/heed.js";
import type { Tensor } from "../../api/tensor.js";
import type { Activation } from "../../operations/pointwise.js";
import { Layer } from "../layer.js";
import { Linear } from "../linear.js";
import { LayerNorm } from "../norm.js";
import type { Scope } from "../scope.js";
import type { PublishedParameters } from "./published.js";

export interface MaskedWordHeadOptions {
  readonly dim: number;
  readonly count: number;
  readonly epsilon: number;
  readonly activation: Activation;
  readonly engine: Heed | undefined;
}

/** Parameters: those of `dense`, `norm` and `decoder`. */
export class MaskedWordHead extends Layer {
  readonly #dense: Linear;
  readonly #norm: LayerNorm;
  readonly #decoder: Linear;
  readonly #activation: Activation;

  constructor({ dim, count, epsilon, activation, engine }: MaskedWordHeadOptions) {
    super("BertModel", engine);
    this.#activation = activation;
    this.#dense = this.part("dense", new Linear({ inFeatures: dim, outFeatures: dim, engine }));
    this.#norm = this.part("norm", new LayerNorm({ shape: dim, epsilon, engine }));
    this.#decoder = this.part("decoder", new Linear({ inFeatures: dim, outFeatures: count, engine }));
  }

  /** @internal [B, L, dim] to [B, L, count]. */
  compute(scope: Scope, hidden: Tensor): Promise<Tensor> {
    return scope.one(async (inner) => {
      const activated = await this.#dense.compute(inner, hidden, { activation: this.#activation });
      return this.#decoder.compute(inner, await this.#norm.compute(inner, activated));
    });
  }
}

/** Takes the head and returns whether a file has it. Some old files also have the decoder's matrix, which is that of `words`, and its bias twice. */
export function takeHead(made: PublishedParameters, ours: string, theirs: string, words: string): boolean {
  const isWhole = made.has(`${theirs}.bias`) || made.has(`${theirs}.decoder.bias`);
  if (!isWhole || !made.has(`${theirs}.transform.dense.weight`)) return false;
  made.take(`${ours}.dense`, `${theirs}.transform.dense`);
  made.take(`${ours}.norm`, `${theirs}.transform.LayerNorm`);
  const own = `${theirs}.decoder`;
  if (made.has(`${own}.bias`)) made.map.set(`${ours}.decoder.bias`, made.get(`${own}.bias`));
  if (made.has(`${theirs}.bias`)) made.map.set(`${ours}.decoder.bias`, made.get(`${theirs}.bias`));
  made.map.set(`${ours}.decoder.weight`, made.get(`${made.has(`${own}.weight`) ? own : words}.weight`));
  return true;
}
