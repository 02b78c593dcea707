// Looks up rows of a table.

import { product, readShape } from "../api/operands.js";
import type { ArrayTensor, Tensor } from "../api/tensor.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isRecord } from "../base/read-values.js";
import { numbersOf } from "../base/typed-array.js";
import { GATHER } from "../operations/gather.js";
import { NARROW_GATHER } from "../operations/narrow/narrow-gather.js";
import type { Draw } from "./draw.js";
import { handOut } from "./hand-out.js";
import { type Forwarded, type ForwardOptions, Layer, type LayerOptions, type NoOptions } from "./layer.js";
import { Parameter } from "./parameters.js";
import { readSize, readSizes } from "./read.js";
import type { Scope } from "./scope.js";

/** Whole numbers of any shape; a bare array has rank 1. */
export type IndexInput = ArrayLike<number> | { readonly data: ArrayLike<number>; readonly shape: readonly number[] };

export interface Indices {
  readonly data: Int32Array<ArrayBuffer>;
  readonly shape: readonly number[];
}

/** The sizes of an `Embedding`. */
export interface EmbeddingOptions extends LayerOptions {
  /** The number of rows of the table. */
  readonly count: number;
  /** The length of a row. */
  readonly dim: number;
}

/** Parameter: `weight` [count, dim]. */
export class Embedding extends Layer {
  readonly count: number;
  readonly dim: number;

  constructor(options: EmbeddingOptions) {
    const where = "Embedding";
    const given = readSizes(where, options, ["count", "dim", "engine"]);
    super(where, given.engine);
    this.count = readSize(where, "count", given["count"]);
    this.dim = readSize(where, "dim", given["dim"]);
    this.parameter("weight", new Parameter([this.count, this.dim], "table"));
  }

  protected override draw(draw: Draw): void {
    this.drawBy((_name, shape) => draw.normal(shape, 1));
  }

  /** Indices of any shape to [..., dim]. */
  forward<const O extends ForwardOptions = NoOptions>(indices: IndexInput, options?: O): Forwarded<O>;
  forward(indices: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.pass(options, [], async (scope, _given, keep) => {
      return handOut(scope, await this.compute(scope, readIndices(this.where, "indices", indices)), keep);
    });
  }

  /** @internal `called` names the function and the indices in messages. */
  async compute(
    scope: Scope,
    { data, shape }: Indices,
    called: { readonly where: string; readonly name: string } = { where: this.where, name: "indices" },
  ): Promise<Tensor> {
    const at = data.findIndex((index) => index >= this.count);
    if (at !== -1) {
      const rule = `${called.name} must be below ${this.count}`;
      throw new HeedError("option", `${called.where}: ${rule}, number ${at} is ${data[at]}`);
    }
    const weight = await this.resident(scope, "weight");
    const sizes = { count: this.count, length: this.dim };
    const { resident, format } = weight;
    const made = [...shape, this.dim];
    if (format === "f32") {
      return scope.make(GATHER, { table: { resident, ...sizes }, indices: data }, made, [weight]);
    }
    const problem = { table: { resident, format }, ...sizes, indices: data, keep: true };
    return scope.make(NARROW_GATHER, problem, made, [weight]);
  }
}

/** `forms`: what else may be given, in messages. */
export function readIndices(where: string, name: string, value: unknown, forms = "or { data, shape }"): Indices {
  const hasShape = isRecord(value) && "data" in value && "shape" in value;
  const numbers = numbersOf(hasShape ? value["data"] : value);
  const at = numbers?.findIndex((index) => !Number.isInteger(index) || index < 0 || index >= 2 ** 31) ?? 0;
  if (numbers === null || at !== -1) {
    const got = numbers === null ? showValue(value) : `${showValue(numbers[at])} at ${at}`;
    throw new HeedError("option", `${where}: ${name} must be whole numbers of at least 0, ${forms}, got ${got}`);
  }
  const shape = hasShape ? readShape(where, name, value["shape"]) : [numbers.length];
  if (product(shape) === numbers.length) return { data: Int32Array.from(numbers), shape };
  throw new HeedError("shape", `${where}: ${name} must have ${product(shape)} elements, got ${numbers.length}`);
}
