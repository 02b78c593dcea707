// A pass that is to be differentiated, with the operations that ideas of one's own are made of.

import type { LinearOptions, RopeOptions } from "../../api/operations/options.js";
import type { TensorLike } from "../../api/options.js";
import type { RelativeBiasOptions } from "../../api/positions/relative-bias.js";
import type { Tensor } from "../../api/tensor.js";
import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guardAsync } from "../../base/guard.js";
import { isRecord, readBoolean, readCount } from "../../base/read-values.js";
import { listOf, MOST_LISTED } from "../../base/typed-array.js";
import { Pass as LayerPass } from "../../layers/pass.js";
import { readAtLeastZero, readCopy } from "../../layers/read.js";
import { dropsAny, type Scope } from "../../layers/scope.js";
import { DROPOUT } from "../../operations/training/elementwise.js";
import type { ClassLoss } from "../later/class-rule.js";
import { type ApplyFunctions, apply } from "./apply.js";
import {
  attention,
  type NoPassOptions,
  type PassAttentionOptions,
  type PassAttentionResult,
  readAttention,
} from "./attention.js";
import { broadcast, type Unary, unary } from "./elementwise.js";
import { gather, type Indices, readIndices } from "./gather.js";
import { type MatmulOptions, matmul, transposed } from "./matmul.js";
import { linearAttention, rope } from "./positions.js";
import { normalize, type ReduceOptions, readReduction, reduced, softmax } from "./reduce.js";
import { relativeBias } from "./relative-bias.js";
import { concat, readAxis, reshape, type SliceOptions, slice, transpose } from "./shapes.js";
import { bring, bringOne, copyOf, handle, type PassValue, residentOf } from "./values.js";

declare module "../../api/tensor.js" {
  interface Tensor {
    /** Begins the backward pass at a tensor of the pass that is no loss, with the gradient of whatever is computed of it elsewhere. Where heed/train is loaded. */
    backward(outputGradient: TensorLike): Promise<void>;
  }
}

/** What `where` chooses by: 1, true or any number but 0 for its second tensor. */
export type Condition =
  | PassValue
  | { readonly data: Float32Array | Uint8Array | readonly boolean[]; readonly shape: readonly number[] };

/** The options of `pass.dropout`. */
export interface DropoutOptions {
  /** The share of numbers that become 0. What is left grows by 1 / (1 - p). */
  readonly p: number;
  /** A whole number of 32 bits. The same one drops the same places. */
  readonly seed: number;
}

/** Those of `linearAttention`, with tensors of the pass. */
export interface PassLinearOptions extends Omit<LinearOptions, "decay" | "beta" | "state" | "keep" | "signal"> {
  readonly decay?: PassValue | undefined;
  readonly beta?: PassValue | undefined;
  readonly state?: PassValue | undefined;
}

/** The options of `pass.apply`. */
export interface ApplyOptions extends ApplyFunctions {
  readonly inputs: readonly PassValue[];
}

/**
 * What `gradients` gives to the function that computes a loss. Every `forward` takes it as `pass`: its results are then tensors of the pass,
 * which ends with that function. Its own methods take tensors of the pass, arrays, parameters and numbers, or promises of tensors, and
 * promise a tensor of the pass. Shapes broadcast as NumPy's.
 */
export class Pass extends LayerPass {
  /** @internal The class's name in messages, which a minifier would shorten. */
  static override readonly name: string = "Pass";
  readonly #scope: Scope;

  /** @internal Of crossEntropy and focal. It is given, because what loads it would be in every page that imports these. */
  readonly ofClasses: ClassLoss;

  /** @internal */
  constructor(scope: Scope, want: (x: Tensor) => void, ofClasses: ClassLoss) {
    super(scope, want);
    this.#scope = scope;
    this.ofClasses = ofClasses;
  }

  add(a: PassValue, b: PassValue): Promise<Tensor> {
    return this.#binary("add", a, b);
  }

  sub(a: PassValue, b: PassValue): Promise<Tensor> {
    return this.#binary("sub", a, b);
  }

  mul(a: PassValue, b: PassValue): Promise<Tensor> {
    return this.#binary("mul", a, b);
  }

  div(a: PassValue, b: PassValue): Promise<Tensor> {
    return this.#binary("div", a, b);
  }

  exp(x: PassValue): Promise<Tensor> {
    return this.#unary("exp", x);
  }

  log(x: PassValue): Promise<Tensor> {
    return this.#unary("log", x);
  }

  sqrt(x: PassValue): Promise<Tensor> {
    return this.#unary("sqrt", x);
  }

  tanh(x: PassValue): Promise<Tensor> {
    return this.#unary("tanh", x);
  }

  sigmoid(x: PassValue): Promise<Tensor> {
    return this.#unary("sigmoid", x);
  }

  /** Its slope at 0 is 0. */
  relu(x: PassValue): Promise<Tensor> {
    return this.#unary("relu", x);
  }

  /** `yes` where the condition is not 0, else `no`. No gradient goes through the condition. */
  where(condition: Condition, yes: PassValue, no: PassValue): Promise<Tensor> {
    return this.#act("where", [condition, yes, no], async (scope, where) => {
      const values = [floatsOf(condition), yes, no] as const;
      return broadcast(scope, where, "select", await bring(scope, where, ["condition", "yes", "no"], values));
    });
  }

  /** a [..., M, K] times b [..., K, N]. */
  matmul(a: PassValue, b: PassValue, options?: MatmulOptions): Promise<Tensor> {
    return this.#act("matmul", [a, b], async (scope, where) => {
      const given = readCopy(where, "options", copyOf(options), ["transposeA", "transposeB"]);
      const [isLeft, isRight] = ["transposeA", "transposeB"].map((name) =>
        readBoolean(where, name, given[name], false),
      );
      const [left, right] = await bring(scope, where, ["a", "b"], [a, b]);
      const first = isLeft ? await transposed(scope, where, left) : left;
      return matmul(scope, where, first, isRight ? await transposed(scope, where, right) : right);
    });
  }

  /** The same numbers in another shape, of which one size may be -1, for what is left. */
  reshape(x: PassValue, shape: readonly number[]): Promise<Tensor> {
    return this.#act("reshape", [x], async (scope, where) => {
      const sizes = copyOf(shape);
      return reshape(scope, where, await bringOne(scope, where, "x", x), sizes);
    });
  }

  /** Axis i of the result is axis axes[i] of x. Default all in reverse. */
  transpose(x: PassValue, axes?: readonly number[]): Promise<Tensor> {
    return this.#act("transpose", [x], async (scope, where) => {
      const order = copyOf(axes);
      return transpose(scope, where, await bringOne(scope, where, "x", x), order);
    });
  }

  /** Tensors one behind the other along an axis, by default the first. */
  concat(tensors: readonly PassValue[], options?: { readonly axis?: number | undefined }): Promise<Tensor> {
    return this.#act("concat", [], async (scope, where) => {
      handle(listOf(tensors, MOST_LISTED, () => true) ?? []);
      const { axis = 0 } = readCopy(where, "options", copyOf(options), ["axis"]);
      return concat(scope, where, await this.#bringAll(where, "tensors", tensors), axis);
    });
  }

  /** A range of the indices of an axis. */
  slice(x: PassValue, options: SliceOptions): Promise<Tensor> {
    return this.#act("slice", [x], async (scope, where) => {
      const given = readCopy(where, "options", copyOf(options), ["axis", "from", "to"]);
      return slice(scope, where, await bringOne(scope, where, "x", x), given);
    });
  }

  /** The entries of an axis, by default the first, that indices name: the axis gives way to those of the indices. */
  gather(x: PassValue, indices: Indices, options?: { readonly axis?: number | undefined }): Promise<Tensor> {
    return this.#act("gather", [x], async (scope, where) => {
      const { axis = 0 } = readCopy(where, "options", copyOf(options), ["axis"]);
      const read = readIndices(where, indices);
      return gather(scope, where, await bringOne(scope, where, "x", x), read, axis);
    });
  }

  sum(x: PassValue, options?: ReduceOptions): Promise<Tensor> {
    return this.#reduce("sum", x, options);
  }

  mean(x: PassValue, options?: ReduceOptions): Promise<Tensor> {
    return this.#reduce("mean", x, options);
  }

  /** The largest number along axes. Those that are equally large share its gradient. */
  max(x: PassValue, options?: ReduceOptions): Promise<Tensor> {
    return this.#reduce("max", x, options);
  }

  /** Along an axis, by default the last. Numbers of -Infinity have weights of 0, also where all are. */
  softmax(x: PassValue, options?: { readonly axis?: number | undefined }): Promise<Tensor> {
    return this.#act("softmax", [x], async (scope, where) => {
      const { axis = -1 } = readCopy(where, "options", copyOf(options), ["axis"]);
      const tensor = await bringOne(scope, where, "x", x);
      return softmax(scope, tensor, readAxis(where, axis, tensor.shape.length));
    });
  }

  /** x / sqrt(sum of squares + epsilon^2) along an axis, by default the last. `epsilon` is 1e-12 by default. */
  normalize(
    x: PassValue,
    options?: { readonly axis?: number | undefined; readonly epsilon?: number | undefined },
  ): Promise<Tensor> {
    return this.#act("normalize", [x], async (scope, where) => {
      const { axis = -1, epsilon } = readCopy(where, "options", copyOf(options), ["axis", "epsilon"]);
      const least = readAtLeastZero(where, "epsilon", epsilon, 1e-12);
      const tensor = await bringOne(scope, where, "x", x);
      return normalize(scope, tensor, readAxis(where, axis, tensor.shape.length), least);
    });
  }

  /** Numbers that are 0 at places drawn from the seed, the same with any number of threads. */
  dropout(x: PassValue, options: DropoutOptions): Promise<Tensor> {
    return this.#act("dropout", [x], async (scope, where) => {
      const given = readCopy(where, "options", copyOf(options), ["p", "seed"]);
      const p = readAtLeastZero(where, "p", given["p"], 0);
      if (p > 1) throw new HeedError("option", `${where}: p must be at most 1, got ${p}`);
      const seed = readCount(where, "seed", given["seed"] ?? "none", 0, 2 ** 32 - 1, 0);
      const tensor = await bringOne(scope, where, "x", x);
      const problem = { x: residentOf(scope, tensor), p: Math.fround(p), seed };
      return dropsAny(p) ? scope.make(DROPOUT, problem, tensor.shape) : tensor;
    });
  }

  /** Attention, as `attention` has it. q, k, v, bias, sinks, temperature, alibiSlopes, the parameters of scores and tables learn. */
  attention<const O extends PassAttentionOptions = NoPassOptions>(
    q: PassValue,
    k: PassValue,
    v: PassValue,
    options?: O,
  ): Promise<PassAttentionResult<O>> {
    return this.#act("attention", [q, k, v], async (scope, where) => {
      const given = readAttention(where, options);
      const [query, key, value] = await bring(scope, where, ["query", "key", "value"], [q, k, v]);
      return attention<O>(scope, where, { query, key, value }, given);
    });
  }

  /** Linear attention, as `linearAttention` has it. q, k, v, decay, beta and state learn. */
  linearAttention(
    q: PassValue,
    k: PassValue,
    v: PassValue,
    options: PassLinearOptions,
  ): Promise<{ readonly output: Tensor; readonly state: Tensor }> {
    return this.#act("linearAttention", [q, k, v], async (scope, where) => {
      const given: { decay?: unknown; beta?: unknown; state?: unknown } = { ...copyOf(options) };
      const tensors = await bring(scope, where, ["query", "key", "value"], [q, k, v]);
      for (const name of ["decay", "beta", "state"] as const) {
        if (given[name] !== undefined) given[name] = await bringOne(scope, where, name, given[name]);
      }
      return linearAttention(scope, tensors, given);
    });
  }

  /** Rotary embedding, as `rope` has it. */
  rope(x: PassValue, options: Omit<RopeOptions, "keep" | "signal" | "retry"> = {}): Promise<Tensor> {
    return this.#act("rope", [x], async (scope, where) => {
      const given = copyOf(options);
      return rope(scope, await bringOne(scope, where, "x", x), given);
    });
  }

  /** The bias of attention that T5 has, [H, length, keyLength], of a table [buckets, H]. */
  relativeBias(table: PassValue, options: RelativeBiasOptions): Promise<Tensor> {
    return this.#act("relativeBias", [table], async (scope, where) => {
      const given = copyOf(options);
      return relativeBias(scope, await bringOne(scope, where, "table", table), given);
    });
  }

  /** An operation of one's own, in JavaScript on arrays: what is missing. Each one waits for what came before it. */
  apply(options: ApplyOptions): Promise<Tensor> {
    return this.#act("apply", [], async (scope, where) => {
      const { inputs, forward, backward } = readCopy(where, "options", copyOf(options), [
        "inputs",
        "forward",
        "backward",
      ]);
      for (const [name, value] of Object.entries({ forward, backward })) {
        if (typeof value === "function") continue;
        throw new HeedError("option", `${where}: ${name} must be a function, got ${showValue(value)}`);
      }
      const tensors = await this.#bringAll(where, "inputs", inputs);
      return apply(scope, where, tensors, { forward, backward } as ApplyFunctions);
    });
  }

  #binary(name: "add" | "sub" | "mul" | "div", a: PassValue, b: PassValue): Promise<Tensor> {
    return this.#act(name, [a, b], async (scope, where) => {
      return broadcast(scope, where, name, await bring(scope, where, ["a", "b"], [a, b]));
    });
  }

  #unary(name: Unary, x: PassValue): Promise<Tensor> {
    return this.#act(name, [x], async (scope, where) => unary(scope, name, await bringOne(scope, where, "x", x)));
  }

  #reduce(name: "sum" | "mean" | "max", x: PassValue, options: ReduceOptions | undefined): Promise<Tensor> {
    return this.#act(name, [x], async (scope, where) => {
      const given = readCopy(where, "options", copyOf(options), ["axis", "keepDims"]);
      const keepDims = readBoolean(where, "keepDims", given["keepDims"], false);
      const tensor = await bringOne(scope, where, "x", x);
      const reduction = readReduction(where, tensor, given["axis"], keepDims);
      const made = await reduced(scope, tensor, reduction, name === "max");
      if (name !== "mean") return made;
      return broadcast(scope, where, "mul", [made, scope.upload(Float32Array.of(1 / reduction.count), [])]);
    });
  }

  #bringAll(where: string, name: string, values: unknown): Promise<readonly Tensor[]> {
    const list = listOf<unknown>(values, MOST_LISTED);
    if (list === null) throw new HeedError("option", `${where}: ${name} must be an array, got ${showValue(values)}`);
    return bring(
      this.#scope,
      where,
      list.map((_, at) => `${name}[${at}]`),
      list,
    );
  }

  /** `values`: those beside options. */
  #act<R>(name: string, values: readonly unknown[], act: (scope: Scope, where: string) => Promise<R>): Promise<R> {
    const where = `Pass.${name}`;
    return guardAsync("option", `${where}: reading its arguments`, () => {
      handle(values);
      return act(this.#scope, where);
    });
  }
}

/** Truths as numbers. */
function floatsOf(condition: unknown): unknown {
  if (!isRecord(condition) || !("data" in condition)) return condition;
  const { data, shape } = condition;
  const truths = listOf<boolean>(data, MOST_LISTED, (one) => typeof one === "boolean");
  if (truths !== null) return { data: Float32Array.from(truths, Number), shape };
  return data instanceof Uint8Array ? { data: Float32Array.from(data), shape } : condition;
}
