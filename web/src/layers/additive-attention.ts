// Bahdanau's additive attention: the scores are v . tanh(W_q q + W_k k + b).

import type { AttentionOptions, Score, TensorInput } from "../api/options.js";
import { readBoolean } from "../api/read-values.js";
import type { AttentionResult, NoOptions } from "../api/results.js";
import { boundOf, type Draw } from "./draw.js";
import { Layer, type LayerOptions } from "./layer.js";
import { Parameter } from "./parameters.js";
import { handOutAll } from "./projections.js";
import { readSize, readSizes } from "./read.js";
import { PASSED_OPTIONS, readOptions, ruleOf } from "./read-rule.js";
import { checkWidth } from "./scope.js";

export interface AdditiveAttentionOptions extends LayerOptions {
  readonly queryDim: number;
  readonly keyDim: number;
  readonly hidden: number;
  /** Adds a bias before the tanh. Default false. */
  readonly bias?: boolean | undefined;
}

/** Parameters: `query_proj.weight` [hidden, queryDim], `key_proj.weight` [hidden, keyDim], `score_proj.weight` [1, hidden], `bias` [hidden]. */
export class AdditiveAttention extends Layer {
  readonly #query: Parameter;
  readonly #key: Parameter;
  readonly #score: Parameter;
  readonly #bias: Parameter | null;

  constructor(options: AdditiveAttentionOptions) {
    const where = "AdditiveAttention";
    const given = readSizes(where, options, ["queryDim", "keyDim", "hidden", "bias", "engine"]);
    super(where, given.engine);
    const read = (name: string): number => readSize(where, name, given[name]);
    const hidden = read("hidden");
    this.#query = this.parameter("query_proj.weight", new Parameter([hidden, read("queryDim")]));
    this.#key = this.parameter("key_proj.weight", new Parameter([hidden, read("keyDim")]));
    this.#score = this.parameter("score_proj.weight", new Parameter([1, hidden]));
    this.#bias = readBoolean(where, "bias", given["bias"], false)
      ? this.parameter("bias", new Parameter([hidden]))
      : this.without("bias");
  }

  protected override draw(draw: Draw): void {
    const hidden = this.#query.shape[0] ?? 1;
    this.drawBy((_name, shape) => draw.uniform(shape, boundOf(shape.length === 1 ? hidden : (shape[1] ?? 1))));
  }

  /** Query [B, L, queryDim], key [B, S, keyDim], value [B, S, E], or without B; value default key. */
  forward<const O extends Omit<AttentionOptions, "layout" | "heads" | "kvHeads" | "out" | "score"> = NoOptions>(
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
      checkWidth(where, "query", q, this.#query.shape[1] ?? 0);
      checkWidth(where, "key", k, this.#key.shape[1] ?? 0);
      const packed = q.shape.length === 3 ? { layout: "packed", heads: 1, kvHeads: 1 } : {};
      const read = await readOptions(scope, where, given, { ...packed, score: this.#scoreOf() });
      const tensors = { query: q, key: k, value: v };
      const rule = ruleOf(scope, where, read, tensors, scope.heldCache(where, given["cache"]));
      return handOutAll(scope, await scope.attention(where, tensors, rule), keep, false);
    });
  }

  #scoreOf(): Score {
    const v = this.#score.loaded(`${this.where}: parameter score_proj.weight`).data;
    return {
      type: "additive",
      wq: this.#query.loaded(`${this.where}: parameter query_proj.weight`),
      wk: this.#key.loaded(`${this.where}: parameter key_proj.weight`),
      v,
      ...(this.#bias === null ? {} : { b: this.#bias.loaded(`${this.where}: parameter bias`).data }),
    };
  }
}
