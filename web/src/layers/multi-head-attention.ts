// Multi-head attention: projections to queries, keys and values of every head, attention, and the output projection.

import type { HeldCache } from "../api/cache-types.js";
import type { RopeOptions } from "../api/operations/options.js";
import { type Rotation, readPositions, readRotation } from "../api/operations/rotation.js";
import type { AttentionOptions, TensorInput } from "../api/options.js";
import type { AnyAttentionResult, AttentionResult, NoAttentionOptions } from "../api/results.js";
import { readWindow } from "../api/structure.js";
import { Tensor } from "../api/tensor.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guard } from "../base/guard.js";
import { isRecord, readBoolean, readCount } from "../base/read-values.js";
import type { Epilogue } from "./affine.js";
import { hookedHeads } from "./apply-hooks.js";
import type { AttentionRule } from "./attention-rule.js";
import { leadingOf } from "./axes.js";
import { heldCache } from "./cache-locks.js";
import { boundOf, type Draw, same } from "./draw.js";
import { handOutAll } from "./hand-out.js";
import { isTorchAttention, renamedFromTorch } from "./import-torch.js";
import { Layer, type LayerOptions } from "./layer.js";
import { Linear } from "./linear.js";
import { RMSNorm } from "./norm.js";
import type { Packing } from "./packing.js";
import type { Pass } from "./pass.js";
import { checkDivides, readOnce, readShare, readSize, readSizes, required } from "./read.js";
import type { Filling, GivenParameters } from "./read-parameters.js";
import { heldBy, PASSED_OPTIONS, readOptions, ruleOf, type Unchecked } from "./read-rule.js";
import { rotate } from "./rotate.js";
import type { AttentionTensors, Scope } from "./scope.js";
import { positionsAfter } from "./stack-caches.js";

/** The sizes and choices of a `MultiHeadAttention`. */
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
  /** An RMSNorm of each head's queries, and one of its keys, before rope. Default false. */
  readonly qkNorm?: boolean | { readonly epsilon?: number | undefined } | undefined;
  /** Rotates queries and keys by their positions. Default false. */
  readonly rope?: InnerRope | false | undefined;
  /** The sliding window of calls that give none. */
  readonly window?: AttentionOptions["window"];
  /** The share of weights that `gradients` of heed/train drops, where a call gives none. Default 0. */
  readonly dropout?: number | undefined;
}

export type InnerRope = Pick<RopeOptions, "base" | "interleaved" | "rotaryDim" | "scaling">;

/** The options of a call of a `MultiHeadAttention`. */
export interface MultiHeadForwardOptions extends Omit<AttentionOptions, "layout" | "heads" | "kvHeads" | "out"> {
  /** For rope: the position of the first token, or one position a token. Default 0, or the length of the cache. */
  readonly positions?: RopeOptions["positions"];
  readonly pass?: Pass | undefined;
}

/** The same, unchecked. */
export type GivenAttention = Unchecked<MultiHeadForwardOptions>;

/** The axes of query, key and value before their last: [B, L]. */
export interface LeadingAxes {
  readonly query: readonly [number, number];
  readonly key: readonly [number, number];
  readonly value: readonly [number, number];
}

/** The rule of one attention within a pass. */
export interface MultiHeadRule extends AttentionRule {
  /** For rope. */
  readonly positions: { readonly query: Positions; readonly key: Positions };
  /** Where query, key and value are packed texts. */
  readonly packing: Packing | null;
  /** Whether the call says what is dropped. */
  readonly saysDropout: boolean;
}

type Positions = ReturnType<typeof readPositions>;

/** Published models have up to 512. */
const MOST_HEAD_DIM = 2 ** 16;

const NAMES = [
  "embedDim",
  "heads",
  "kvHeads",
  "headDim",
  "valueDim",
  "keyDim",
  "valueInputDim",
  "bias",
  "qkNorm",
  "rope",
  "window",
  "dropout",
  "engine",
];

/**
 * Parameters: `weight` and `bias` of `q_proj`, `k_proj`, `v_proj` and `out_proj`, and `weight` [headDim] of `q_norm` and `k_norm`
 * with qkNorm. `load` also takes those of PyTorch's nn.MultiheadAttention.
 */
export class MultiHeadAttention extends Layer {
  readonly embedDim: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly #query: Linear;
  readonly #key: Linear;
  readonly #value: Linear;
  readonly #out: Linear;
  readonly #queryNorm: RMSNorm | null;
  readonly #keyNorm: RMSNorm | null;
  readonly #window: unknown;
  readonly #rotation: Rotation | null;
  readonly #dropout: number;

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
    const headDim = readSize(where, "headDim", given["headDim"] ?? this.embedDim / this.heads, MOST_HEAD_DIM);
    const valueDim = read("valueDim", headDim);
    const bias = readBias(where, given["bias"]);
    const project = (from: number, to: number, hasBias: boolean): Linear =>
      new Linear({ inFeatures: from, outFeatures: to, bias: hasBias, engine });
    this.#query = this.part("q_proj", project(this.embedDim, this.heads * headDim, bias.qkv));
    this.#key = this.part("k_proj", project(read("keyDim", this.embedDim), this.kvHeads * headDim, bias.qkv));
    this.#value = this.part("v_proj", project(read("valueInputDim", this.embedDim), this.kvHeads * valueDim, bias.qkv));
    this.#out = this.part("out_proj", project(this.heads * valueDim, this.embedDim, bias.out));
    this.without("bias_k", "bias_v");
    const epsilon = readQkNorm(where, given["qkNorm"]);
    const norm = (name: string): RMSNorm | null =>
      epsilon === null
        ? this.without(`${name}.weight`)
        : this.part(name, new RMSNorm({ ...epsilon, shape: headDim, engine }));
    this.#queryNorm = norm("q_norm");
    this.#keyNorm = norm("k_norm");
    this.#dropout = readShare(where, "dropout", given["dropout"]);
    this.#window =
      given["window"] === undefined
        ? undefined
        : guard("option", `${where}: reading window`, () =>
            readWindow(where, given["window"]).map((side) => side ?? -1),
          );
    const names = ["base", "interleaved", "rotaryDim", "scaling"];
    const isPlain = given["rope"] === undefined || given["rope"] === false;
    const rope = isPlain ? null : readOnce(where, "rope", given["rope"], names);
    this.#rotation =
      rope && guard("option", `${where}: reading rope`, () => readRotation(where, rope, [this.heads, headDim]));
  }

  protected override fill(parameters: GivenParameters, prefix: string): Filling {
    if (isTorchAttention(parameters, prefix)) return super.fill(renamedFromTorch(parameters, prefix), "");
    return super.fill(parameters, prefix);
  }

  /** As nn.MultiheadAttention: no bias, and one bound for the matrices of queries, keys and values where they are of one size. */
  protected override draw(draw: Draw): void {
    const [from, to] = [
      this.#query.inFeatures,
      this.#query.outFeatures + this.#key.outFeatures + this.#value.outFeatures,
    ];
    const isOne = this.#key.inFeatures === from && this.#value.inFeatures === from;
    this.drawBy((name, shape) => {
      const [outputs = 1, inputs = 1] = shape;
      if (shape.length === 1) return same(shape, 0);
      if (name === "out_proj.weight") return draw.uniform(shape, boundOf(inputs));
      return draw.uniform(shape, Math.sqrt(6 / (inputs + (isOne ? to : outputs))));
    });
  }

  /** Query [B, L, embedDim] or [L, embedDim]; key and value likewise, of S; key default query, value default key. */
  forward<const O extends MultiHeadForwardOptions = NoAttentionOptions>(
    query: TensorInput,
    key?: TensorInput,
    value?: TensorInput,
    options?: O,
  ): Promise<AttentionResult<O>>;
  forward(query: unknown, key?: unknown, value?: unknown, options?: unknown): Promise<AttentionResult> {
    const { where } = this;
    return this.pass(options, [...PASSED_OPTIONS, "positions"], async (scope, given, keep) => {
      const q = await scope.take(where, "query", query);
      const k = key === undefined ? q : await scope.take(where, "key", key);
      const v = value === undefined ? k : await scope.take(where, "value", value);
      const leading = {
        query: leadingOf(where, "query", q, this.#query.inFeatures),
        key: leadingOf(where, "key", k, this.#key.inFeatures),
        value: leadingOf(where, "value", v, this.#value.inFeatures),
      };
      const ruleFor = await this.rules(scope, where, given, leading);
      const rule = ruleFor(heldCache(scope.held, where, given["cache"]));
      const result = await this.compute(scope, { query: q, key: k, value: v }, rule);
      return handOutAll(scope, result, keep, q.shape.length === 2);
    });
  }

  /** @internal Attentions of the same options otherwise have the same rules where this is the same. */
  get variant(): string {
    return `${this.#rotation !== null} ${this.#window}`;
  }

  /** @internal Reads options. The result makes a rule for a cache, or for none. `where` names the function in messages. */
  async rules(
    scope: Scope,
    where: string,
    given: GivenAttention,
    leading: LeadingAxes,
    packing: Packing | null = null,
  ): Promise<(cache: HeldCache | null) => MultiHeadRule> {
    const { heads, kvHeads } = this;
    const window = given.window ?? this.#window;
    const read = await readOptions(scope, where, { ...given, window }, { layout: "packed", heads, kvHeads });
    const tensors = {
      query: { shape: [...leading.query, this.#query.outFeatures] },
      key: { shape: [...leading.key, this.#key.outFeatures] },
      value: { shape: [...leading.value, this.#value.outFeatures] },
    };
    const { positions } = given;
    const positionsOf = (axes: readonly [number, number], cache: HeldCache | null): Positions =>
      this.#rotation &&
      guard("option", `${where}: reading positions`, () =>
        readPositions(
          where,
          positions ?? (cache?.lengths ? positionsAfter(where, cache.lengths, axes) : cache?.length),
          ...axes,
        ),
      );
    const made = new Map<number, MultiHeadRule>();
    return (cache) => {
      const rule = made.get(heldBy(cache)) ?? {
        ...ruleOf(scope, where, read, tensors, cache),
        positions: { query: positionsOf(leading.query, cache), key: positionsOf(leading.key, cache) },
        packing,
        saysDropout: given.dropout !== undefined,
      };
      made.set(heldBy(cache), rule);
      return { ...rule, cache };
    };
  }

  /** @internal `epilogue` is that of the output projection. Weights, lse, scores and entropy are [B, H, ...]. */
  compute(
    scope: Scope,
    { query, key, value }: AttentionTensors,
    rule: MultiHeadRule,
    epilogue: Epilogue = {},
  ): Promise<AnyAttentionResult> {
    const [batch, , queries] = rule.problem.query.shape;
    const keys = rule.problem.key.shape[2];
    const { packing } = rule;
    const act = async (inner: Scope): Promise<AnyAttentionResult> => {
      const project = async (layer: Linear, x: Tensor, length: number): Promise<Tensor> =>
        packing === null
          ? layer.compute(inner, x, { leading: [batch, length] })
          : packing.spread(inner, await layer.compute(inner, x));
      const projected = {
        query: await project(this.#query, query, queries),
        key: await project(this.#key, key, keys),
        value: await project(this.#value, value, keys),
      };
      const tensors = {
        query: await this.#turned(inner, projected.query, this.#queryNorm, this.heads, rule.positions.query),
        key: await this.#turned(inner, projected.key, this.#keyNorm, this.kvHeads, rule.positions.key),
        value: projected.value,
      };
      const attended = await inner.attention(this.where, tensors, this.#dropping(inner, rule));
      const { heads, kvHeads } = this;
      const isCached = rule.cache !== null;
      const result = await hookedHeads(inner, attended, {
        layer: this,
        heads,
        kvHeads,
        value: tensors.value,
        isCached,
      });
      if (!(result.output instanceof Tensor)) return result;
      const joined = packing === null ? result.output : await packing.join(inner, result.output);
      const output = await this.#out.compute(inner, joined, { ...epilogue, leading: query.shape.slice(0, -1) });
      return { ...result, output };
    };
    return scope.inner(act, tensorsOf);
  }

  /** The rule with dropout where the pass learns. */
  #dropping({ drops }: Scope, rule: MultiHeadRule): MultiHeadRule {
    const p = Math.fround(this.#dropout);
    if (drops === null || p === 0 || rule.saysDropout) return rule;
    return { ...rule, problem: { ...rule.problem, dropout: { p, seed: drops.seed() } } };
  }

  async #turned(scope: Scope, x: Tensor, norm: RMSNorm | null, heads: number, positions: Positions): Promise<Tensor> {
    const even = norm === null ? x : await norm.computeEach(scope, x);
    return this.#rotation === null ? even : rotate(scope, even, heads, this.#rotation, positions);
  }
}

/** The tensors among the results. */
export function tensorsOf(result: AnyAttentionResult): readonly (Tensor | undefined)[] {
  return Object.values(result).filter((part) => part instanceof Tensor);
}

function readQkNorm(where: string, value: unknown): { readonly epsilon?: number } | null {
  if (value === undefined || typeof value === "boolean") return value === true ? {} : null;
  return readOnce(where, "qkNorm", value, ["epsilon"]);
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
