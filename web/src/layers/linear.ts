// y = x W^T + b.

import type { TensorInput } from "../api/options.js";
import type { ArrayTensor, Tensor } from "../api/tensor.js";
import { showShape } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { readBoolean } from "../base/read-values.js";
import { affine, type Epilogue, pointwise } from "./affine.js";
import { checkWidth } from "./axes.js";
import { boundOf, type Draw } from "./draw.js";
import { handOut } from "./hand-out.js";
import { type Forwarded, type ForwardOptions, Layer, type LayerOptions, type NoOptions } from "./layer.js";
import { Parameter } from "./parameters.js";
import { readSize, readSizes } from "./read.js";
import type { Filling, GivenParameters } from "./read-parameters.js";
import type { Scope } from "./scope.js";

/** The sizes of a `Linear`. */
export interface LinearLayerOptions extends LayerOptions {
  readonly inFeatures: number;
  readonly outFeatures: number;
  /** Default true. */
  readonly bias?: boolean | undefined;
}

/** The options of a call of a `Linear`. */
export interface LinearForwardOptions extends ForwardOptions {
  /** A tensor of the result's shape, which is added to it: with another Linear's result, this is a Linear of both inputs joined. */
  readonly addend?: TensorInput | undefined;
}

/** What `lora` of heed/train adds to the product of a Linear, and what heed/models has loaded. */
export interface Adapter {
  /** Whether it adds anything in a pass. Absent: in each. */
  applies?(scope: Scope): boolean;
  readonly parts: Readonly<Record<string, Layer>>;
  compute(scope: Scope, x: Tensor): Promise<Tensor>;
}

/** Parameters: `weight` [outFeatures, inFeatures], `bias` [outFeatures]. */
export class Linear extends Layer {
  readonly inFeatures: number;
  readonly outFeatures: number;
  #adapter: Adapter | null = null;

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

  protected override fill(parameters: GivenParameters, prefix: string): Filling {
    const name = `${prefix}lora_A.weight`;
    if (this.#adapter !== null || !parameters.has(name)) return super.fill(parameters, prefix);
    const rule = `parameter ${name} is of an adapter, which lora of heed/train must have added before`;
    throw new HeedError("option", `${this.where}: ${rule}`);
  }

  /** x [..., inFeatures] to [..., outFeatures]. */
  forward<const O extends LinearForwardOptions = NoOptions>(x: TensorInput, options?: O): Forwarded<O>;
  forward(x: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.pass(options, ["addend"], async (scope, given, keep) => {
      const input = await scope.take(this.where, "x", x);
      checkWidth(this.where, "x", input, this.inFeatures);
      const addend = given["addend"] === undefined ? null : await scope.take(this.where, "addend", given["addend"]);
      if (addend !== null) this.#checkAddend(addend, input);
      return handOut(scope, await this.compute(scope, input, { addend }), keep);
    });
  }

  #checkAddend({ shape }: Tensor, input: Tensor): void {
    const wanted = [...input.shape.slice(0, -1), this.outFeatures];
    if (shape.join() === wanted.join()) return;
    throw new HeedError("shape", `${this.where}: addend must be ${showShape(wanted)}, got ${showShape(shape)}`);
  }

  /** @internal Takes an adapter, whose layers become its parts, or gives it up. */
  adapt(adapter: Adapter | null): void {
    for (const name of Object.keys(this.#adapter?.parts ?? {})) this.withoutPart(name);
    this.#adapter = adapter;
    for (const [name, part] of Object.entries(adapter?.parts ?? {})) this.part(name, part);
  }

  /** @internal activation(x W^T + b) * factor + addend, within a pass. */
  async compute(scope: Scope, x: Tensor, rule: Epilogue = {}): Promise<Tensor> {
    const weight = await this.resident(scope, "weight");
    const bias = await this.residentOrNull(scope, "bias");
    const adapter = this.#adapter;
    if (adapter === null || adapter.applies?.(scope) === false) return affine(scope, x, weight, bias, rule);
    return scope.one(async (inner) => {
      const { leading, ...rest } = rule;
      const addend = await adapter.compute(inner, x);
      const made = await affine(inner, x, weight, bias, { ...(leading && { leading }), addend });
      return Object.keys(rest).length === 0 ? made : pointwise(inner, made, rest);
    });
  }
}
