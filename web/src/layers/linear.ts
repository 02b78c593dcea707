// y = x W^T + b.

import type { TensorInput } from "../api/options.js";
import { readBoolean } from "../api/read-values.js";
import type { ArrayTensor, Tensor } from "../api/tensor.js";
import { boundOf, type Draw } from "./draw.js";
import { type Forwarded, type ForwardOptions, Layer, type LayerOptions, type NoOptions } from "./layer.js";
import { Parameter } from "./parameters.js";
import { readSize, readSizes } from "./read.js";
import { checkWidth, type Epilogue, type Scope } from "./scope.js";

export interface LinearLayerOptions extends LayerOptions {
  readonly inFeatures: number;
  readonly outFeatures: number;
  /** Default true. */
  readonly bias?: boolean | undefined;
}

/** Parameters: `weight` [outFeatures, inFeatures], `bias` [outFeatures]. */
export class Linear extends Layer {
  readonly inFeatures: number;
  readonly outFeatures: number;

  constructor(options: LinearLayerOptions) {
    const where = "Linear";
    const given = readSizes(where, options, ["inFeatures", "outFeatures", "bias", "engine"]);
    super(where, given.engine);
    this.inFeatures = readSize(where, "inFeatures", given["inFeatures"]);
    this.outFeatures = readSize(where, "outFeatures", given["outFeatures"]);
    this.parameter("weight", new Parameter([this.outFeatures, this.inFeatures], { matrices: 1 }));
    if (readBoolean(where, "bias", given["bias"], true)) this.parameter("bias", new Parameter([this.outFeatures]));
    else this.without("bias");
  }

  protected override draw(draw: Draw): void {
    this.drawBy((_name, shape) => draw.uniform(shape, boundOf(this.inFeatures)));
  }

  /** x [..., inFeatures] to [..., outFeatures]. */
  forward<const O extends ForwardOptions = NoOptions>(x: TensorInput, options?: O): Forwarded<O>;
  forward(x: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.passOne(x, options, (scope, input) => {
      checkWidth(this.where, "x", input, this.inFeatures);
      return this.compute(scope, input);
    });
  }

  /** @internal activation(x W^T + b) * factor + addend, within a pass. */
  async compute(scope: Scope, x: Tensor, rule: Epilogue = {}): Promise<Tensor> {
    const weight = await this.resident(scope, "weight");
    return scope.affine(x, weight, this.outFeatures, await this.residentOrNull(scope, "bias"), rule);
  }
}
