// Adapters of one linear layer, of which a call takes one by its name, or none: y = W x + b + scale B A x.

import type { Tensor } from "../api/tensor.js";
import type { Layer } from "../layers/layer.js";
import { type Adapter, Linear } from "../layers/linear.js";
import type { ParameterInput } from "../layers/read-parameters.js";
import type { Scope } from "../layers/scope.js";

export class LowRank {
  readonly #a: Linear;
  readonly #b: Linear;
  readonly #scale: number;

  /** `a` [rank, in], `b` [out, rank]. */
  constructor({ inFeatures, outFeatures }: Linear, rank: number, scale: number, a: ParameterInput, b: ParameterInput) {
    this.#a = new Linear({ inFeatures, outFeatures: rank, bias: false }).load({ weight: a });
    this.#b = new Linear({ inFeatures: rank, outFeatures, bias: false }).load({ weight: b });
    this.#scale = scale;
  }

  async compute(scope: Scope, x: Tensor): Promise<Tensor> {
    const { outFeatures: rank } = this.#a;
    const factor = scope.upload(new Float32Array(rank).fill(this.#scale), [rank]);
    return this.#b.compute(scope, await this.#a.compute(scope, x, { factor }));
  }

  dispose(): void {
    this.#a.dispose();
    this.#b.dispose();
  }
}

/** They are no parts of the layer, whose parameters stay those of the model. */
export class AdapterSwitch implements Adapter {
  readonly parts: Readonly<Record<string, Layer>> = {};
  readonly byName = new Map<string, LowRank>();

  applies({ watch }: Scope): boolean {
    return this.byName.has(watch?.adapter ?? "");
  }

  compute(scope: Scope, x: Tensor): Promise<Tensor> {
    const chosen = this.byName.get(scope.watch?.adapter ?? "");
    if (chosen === undefined) throw new TypeError("an adapter computes where it applies");
    return chosen.compute(scope, x);
  }
}
