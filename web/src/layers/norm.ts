// LayerNorm and RMSNorm over the last axes.

import { product, readShape } from "../api/operands.js";
import type { TensorInput } from "../api/options.js";
import type { ArrayTensor, Tensor } from "../api/tensor.js";
import { showShape } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guard } from "../base/guard.js";
import { readBoolean } from "../base/read-values.js";
import { NORM } from "../operations/norm.js";
import { same } from "./draw.js";
import { type Forwarded, type ForwardOptions, Layer, type LayerOptions, type NoOptions } from "./layer.js";
import { Parameter } from "./parameters.js";
import { readAtLeastZero, readSizes } from "./read.js";
import type { Scope } from "./scope.js";

/** The options of a norm. */
export interface NormOptions extends LayerOptions {
  /** The last axis, or the last axes. */
  readonly shape: number | readonly number[];
  /** A number that is added to the variance or the mean square. Default 1e-5. */
  readonly epsilon?: number | undefined;
  /** A factor for each number. Default true. */
  readonly weight?: boolean | undefined;
}

/** The options of a `LayerNorm`. */
export interface LayerNormOptions extends NormOptions {
  /** An addend for each number. Default true. */
  readonly bias?: boolean | undefined;
}

class Norm extends Layer {
  readonly shape: readonly number[];
  readonly #epsilon: number;
  readonly #isCentred: boolean;

  protected constructor(where: string, options: LayerNormOptions, names: readonly string[], isCentred: boolean) {
    const given = readSizes(where, options, ["shape", "epsilon", "weight", "engine", ...names]);
    super(where, given.engine);
    this.shape = readNormShape(where, given["shape"]);
    this.#epsilon = readAtLeastZero(where, "epsilon", given["epsilon"], 1e-5);
    this.#isCentred = isCentred;
    for (const [name, isThere] of [
      ["weight", true],
      ["bias", isCentred],
    ] as const) {
      if (readBoolean(where, name, given[name], isThere)) this.parameter(name, new Parameter(this.shape));
      else this.without(name);
    }
  }

  protected override draw(): void {
    this.drawBy((name, shape) => same(shape, name === "weight" ? 1 : 0));
  }

  /** x to the same shape. */
  forward<const O extends ForwardOptions = NoOptions>(x: TensorInput, options?: O): Forwarded<O>;
  forward(x: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.passOne(x, options, (scope, input) => this.compute(scope, input));
  }

  /** @internal */
  async compute(scope: Scope, x: Tensor): Promise<Tensor> {
    const last = x.shape.slice(-this.shape.length);
    if (last.length !== this.shape.length || last.some((size, axis) => size !== this.shape[axis])) {
      throw new HeedError(
        "shape",
        `${this.where}: the last axes of x must be ${showShape(this.shape)}, got ${showShape(x.shape)}`,
      );
    }
    return this.computeEach(scope, x);
  }

  /** @internal The last axis may be several of the norm's vectors, as those of heads. */
  async computeEach(scope: Scope, x: Tensor): Promise<Tensor> {
    const weight = await this.residentOrNull(scope, "weight");
    const bias = await this.residentOrNull(scope, "bias");
    const { resident } = scope.rows(x);
    const width = product(this.shape);
    const input = { resident, count: resident.elements / width, length: width };
    const problem = { input, isCentred: this.#isCentred, epsilon: this.#epsilon, weight, bias };
    return scope.make(NORM, problem, x.shape, [weight, bias]);
  }
}

/** (x - mean) / sqrt(variance + epsilon) * weight + bias. Parameters: `weight`, `bias`, of `shape`. */
export class LayerNorm extends Norm {
  constructor(options: LayerNormOptions) {
    super("LayerNorm", options, ["bias"], true);
  }
}

/** x / sqrt(mean square + epsilon) * weight. Parameter: `weight`, of `shape`. */
export class RMSNorm extends Norm {
  constructor(options: NormOptions) {
    super("RMSNorm", options, [], false);
  }
}

function readNormShape(where: string, value: unknown): readonly number[] {
  const shape = guard("option", `${where}: reading shape`, () => {
    return readShape(where, "options", typeof value === "number" ? [value] : value);
  });
  if (shape.length > 0 && shape.every((size) => size > 0)) return shape;
  throw new HeedError("shape", `${where}: shape must have axes of at least 1, got ${showShape(shape)}`);
}
