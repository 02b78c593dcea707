// Multi-head attention: projections to queries, keys and values of every head, attention, and the output projection.

import { showValue } from "../api/describe.js";
import { HeedError } from "../api/errors.js";
import type { RopeOptions } from "../api/extra/options.js";
import type { AttentionOptions, TensorInput } from "../api/options.js";
import { isRecord, readBoolean, readCount } from "../api/read-values.js";
import type { AnyAttentionResult, AttentionResult, NoAttentionOptions } from "../api/results.js";
import { Tensor } from "../api/tensor.js";
import { isTorchAttention, renamedFromTorch } from "./import-torch.js";
import { Layer, type LayerOptions } from "./layer.js";
import { Linear } from "./linear.js";
import type { Filling, GivenParameters } from "./parameters.js";
import { handOutAll, leadingOf, PASSED_OPTIONS, passedOn } from "./projections.js";
import { checkDivides, readOnce, readSizes, required } from "./read.js";
import type { AttentionTensors, Epilogue, Scope } from "./scope.js";
import { lengthOf } from "./stack-caches.js";

export interface MultiHeadAttentionOptions extends LayerOptions {
  /** The length of a query before its projection, and of the output. */
  readonly embedDim: number;
  readonly heads: number;
  /** The number of key and value heads, of which `heads` is a multiple. Default `heads`. */
  readonly kvHeads?: number | undefined;
  /** Default embedDim / heads. */
  readonly headDim?: number | undefined;
  /** The length of a value in a head. Default headDim. */
  readonly valueDim?: number | undefined;
  /** The length of a key, and of a value, before its projection. Default embedDim. */
  readonly keyDim?: number | undefined;
  readonly valueInputDim?: number | undefined;
  /** Biases of all projections, or of those of query, key and value, and of the output. Default true. */
  readonly bias?: boolean | { readonly qkv?: boolean; readonly out?: boolean } | undefined;
  /** Rotates queries and keys by their positions. */
  readonly rope?: Pick<RopeOptions, "base" | "interleaved" | "rotaryDim" | "scaling"> | undefined;
}

export interface MultiHeadForwardOptions extends Omit<AttentionOptions, "layout" | "heads" | "kvHeads" | "out"> {
  /** For rope: the position of the first token, or one position a token. Default 0, or the length of the cache. */
  readonly positions?: RopeOptions["positions"];
}

const NAMES = [
  "embedDim",
  "heads",
  "kvHeads",
  "headDim",
  "valueDim",
  "keyDim",
  "valueInputDim",
  "bias",
  "rope",
  "engine",
];

/**
 * Parameters: `weight` and `bias` of `q_proj`, `k_proj`, `v_proj` and `out_proj`. `load` also takes those of PyTorch's
 * nn.MultiheadAttention.
 */
export class MultiHeadAttention extends Layer {
  readonly embedDim: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly #query: Linear;
  readonly #key: Linear;
  readonly #value: Linear;
  readonly #out: Linear;
  readonly #rope: Readonly<Record<string, unknown>> | null;

  constructor(options: MultiHeadAttentionOptions) {
    const where = "MultiHeadAttention";
    const given = readSizes(where, options, NAMES);
    const { engine } = given;
    super(where, engine);
    const read = (name: string, absent: number | null): number =>
      required(where, name, readCount(where, name, given[name], absent));
    this.embedDim = read("embedDim", null);
    this.heads = read("heads", null);
    this.kvHeads = read("kvHeads", this.heads);
    checkDivides(where, "kvHeads", this.kvHeads, "heads", this.heads);
    if (given["headDim"] === undefined) checkDivides(where, "heads", this.heads, "embedDim", this.embedDim);
    const headDim = read("headDim", this.embedDim / this.heads);
    const valueDim = read("valueDim", headDim);
    const bias = readBias(where, given["bias"]);
    const project = (from: number, to: number, hasBias: boolean): Linear =>
      new Linear({ inFeatures: from, outFeatures: to, bias: hasBias, engine });
    this.#query = this.part("q_proj", project(this.embedDim, this.heads * headDim, bias.qkv));
    this.#key = this.part("k_proj", project(read("keyDim", this.embedDim), this.kvHeads * headDim, bias.qkv));
    this.#value = this.part("v_proj", project(read("valueInputDim", this.embedDim), this.kvHeads * valueDim, bias.qkv));
    this.#out = this.part("out_proj", project(this.heads * valueDim, this.embedDim, bias.out));
    this.without("bias_k", "bias_v");
    const names = ["base", "interleaved", "rotaryDim", "scaling"];
    this.#rope = given["rope"] === undefined ? null : readOnce(where, "rope", given["rope"], names);
  }

  protected override fill(parameters: GivenParameters, prefix: string): Filling {
    if (isTorchAttention(parameters, prefix)) return super.fill(renamedFromTorch(parameters, prefix), "");
    return super.fill(parameters, prefix);
  }

  /** Query [B, L, embedDim] or [L, embedDim]; key and value likewise, of S; key default query, value default key. */
  forward<const O extends MultiHeadForwardOptions = NoAttentionOptions>(
    query: TensorInput,
    key?: TensorInput,
    value?: TensorInput,
    options?: O,
  ): Promise<AttentionResult<O>>;
  forward(query: unknown, key?: unknown, value?: unknown, options?: unknown): Promise<AttentionResult> {
    return this.pass(options, [...PASSED_OPTIONS, "positions"], async (scope, given, keep) => {
      const q = await scope.take(this.where, "query", query);
      const k = key === undefined ? q : await scope.take(this.where, "key", key);
      const v = value === undefined ? k : await scope.take(this.where, "value", value);
      const result = await this.compute(scope, { query: q, key: k, value: v }, given);
      return handOutAll(scope, result, keep, q.shape.length === 2);
    });
  }

  /** @internal `rule` is the epilogue of the output projection. Weights, lse, scores and entropy are [B, H, ...]. */
  compute(
    scope: Scope,
    { query, key, value }: AttentionTensors,
    options: Readonly<Record<string, unknown>>,
    rule: Epilogue = {},
  ): Promise<AnyAttentionResult> {
    const { where } = this;
    const act = async (inner: Scope): Promise<AnyAttentionResult> => {
      const leading = {
        query: leadingOf(where, "query", query, this.#query.inFeatures),
        key: leadingOf(where, "key", key, this.#key.inFeatures),
        value: leadingOf(where, "value", value, this.#value.inFeatures),
      };
      const projected = {
        query: await this.#query.compute(inner, query, { leading: leading.query }),
        key: await this.#key.compute(inner, key, { leading: leading.key }),
        value: await this.#value.compute(inner, value, { leading: leading.value }),
      };
      const positions = options["positions"] ?? lengthOf(options["cache"]);
      const tensors = {
        query: await this.#rotate(inner, projected.query, this.heads, positions),
        key: await this.#rotate(inner, projected.key, this.kvHeads, positions),
        value: projected.value,
      };
      const packed = { layout: "packed", heads: this.heads, kvHeads: this.kvHeads };
      const result = await inner.attention(where, tensors, { ...passedOn(options), ...packed });
      if (!(result.output instanceof Tensor)) return result;
      const output = await this.#out.compute(inner, result.output, { ...rule, leading: query.shape.slice(0, -1) });
      return { ...result, output };
    };
    return scope.inner(act, tensorsOf);
  }

  async #rotate(scope: Scope, x: Tensor, heads: number, positions: unknown): Promise<Tensor> {
    if (this.#rope === null) return x;
    return scope.rope(x, { ...this.#rope, layout: "packed", heads, ...(positions === undefined ? {} : { positions }) });
  }
}

/** The tensors among the results. */
export function tensorsOf(result: AnyAttentionResult): readonly (Tensor | undefined)[] {
  return Object.values(result).filter((part) => part instanceof Tensor);
}

function readBias(where: string, value: unknown): { readonly qkv: boolean; readonly out: boolean } {
  if (value === undefined || typeof value === "boolean") return { qkv: value ?? true, out: value ?? true };
  if (!isRecord(value)) {
    throw new HeedError("option", `${where}: bias must be true, false or { qkv, out }, got ${showValue(value)}`);
  }
  const given = readOnce(where, "bias", value, ["qkv", "out"]);
  return {
    qkv: readBoolean(where, "bias.qkv", given["qkv"], true),
    out: readBoolean(where, "bias.out", given["out"], true),
  };
}
