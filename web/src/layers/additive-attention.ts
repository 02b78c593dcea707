// Bahdanau's additive attention: the scores are v . tanh(W_q q + W_k k + b).

import type { AttentionOptions, Score, TensorInput } from "../api/options.js";
import type { AttentionResult, NoOptions } from "../api/results.js";
import type { Tensor } from "../api/tensor.js";
import { readBoolean } from "../base/read-values.js";
import { copied } from "./affine.js";
import { checkWidth } from "./axes.js";
import { heldCache } from "./cache-locks.js";
import { boundOf, type Draw } from "./draw.js";
import { handOutAll } from "./hand-out.js";
import { Layer, type LayerOptions } from "./layer.js";
import { Parameter } from "./parameters.js";
import type { Pass } from "./pass.js";
import { readSize, readSizes } from "./read.js";
import { PASSED_OPTIONS, readOptions, ruleOf } from "./read-rule.js";
import type { Scope } from "./scope.js";

/** The sizes of an `AdditiveAttention`. */
export interface AdditiveAttentionOptions extends LayerOptions {
  readonly queryDim: number;
  readonly keyDim: number;
  readonly hidden: number;
  /** Adds a bias before the tanh. Default false. */
  readonly bias?: boolean | undefined;
}

/** The options of a call of an `AdditiveAttention`. */
export interface AdditiveForwardOptions
  extends Omit<AttentionOptions, "layout" | "heads" | "kvHeads" | "out" | "score"> {
  readonly pass?: Pass | undefined;
}

/** Parameters: `query_proj.weight` [hidden, queryDim], `key_proj.weight` [hidden, keyDim], `score_proj.weight` [1, hidden], `bias` [hidden]. */
export class AdditiveAttention extends Layer {
  readonly #queryDim: number;
  readonly #keyDim: number;
  readonly #hidden: number;
  readonly #hasBias: boolean;

  constructor(options: AdditiveAttentionOptions) {
    const where = "AdditiveAttention";
    const given = readSizes(where, options, ["queryDim", "keyDim", "hidden", "bias", "engine"]);
    super(where, given.engine);
    const read = (name: string): number => readSize(where, name, given[name]);
    const hidden = read("hidden");
    this.#hidden = hidden;
    this.#queryDim = read("queryDim");
    this.#keyDim = read("keyDim");
    this.#hasBias = readBoolean(where, "bias", given["bias"], false);
    this.parameter("query_proj.weight", new Parameter([hidden, this.#queryDim]));
    this.parameter("key_proj.weight", new Parameter([hidden, this.#keyDim]));
    this.parameter("score_proj.weight", new Parameter([1, hidden]));
    if (this.#hasBias) this.parameter("bias", new Parameter([hidden]));
    else this.without("bias");
  }

  protected override draw(draw: Draw): void {
    this.drawBy((_name, shape) => draw.uniform(shape, boundOf(shape[1] ?? this.#hidden)));
  }

  /** Query [B, L, queryDim], key [B, S, keyDim], value [B, S, E], or without B; value default key. */
  forward<const O extends AdditiveForwardOptions = NoOptions>(
    query: TensorInput,
    key: TensorInput,
    value?: TensorInput,
    options?: O,
  ): Promise<AttentionResult<O>>;
  forward(query: unknown, key: unknown, value?: unknown, options?: unknown): Promise<AttentionResult> {
    const { where } = this;
    const names = PASSED_OPTIONS.filter((name) => name !== "score");
    return this.pass(options, names, async (scope, given, keep) => {
      const q = await scope.take(where, "query", query);
      const k = await scope.take(where, "key", key);
      const v = value === undefined ? k : await scope.take(where, "value", value);
      checkWidth(where, "query", q, this.#queryDim);
      checkWidth(where, "key", k, this.#keyDim);
      const packed = q.shape.length === 3 ? { layout: "packed", heads: 1, kvHeads: 1 } : {};
      const score = await this.#scoreIn(scope);
      const read = await readOptions(scope, where, given, { ...packed, score });
      const tensors = { query: q, key: k, value: v };
      const rule = ruleOf(scope, where, read, tensors, heldCache(scope.held, where, given["cache"]));
      return handOutAll(scope, await scope.attention(where, tensors, rule), keep, false);
    });
  }

  async #scoreIn(scope: Scope): Promise<Score> {
    const tensor = async (name: string, shape?: readonly number[]): Promise<Tensor> => {
      const own = await this.resident(scope, name);
      return copied(scope, own, shape ?? own.parameter.shape, own);
    };
    return {
      type: "additive",
      wq: await tensor("query_proj.weight"),
      wk: await tensor("key_proj.weight"),
      v: await tensor("score_proj.weight", [this.#hidden]),
      ...(this.#hasBias ? { b: await tensor("bias") } : {}),
    };
  }
}
