// The transformer block: attention and a feed-forward network, each with a norm and a residual connection.

import type { HeldCache } from "../api/cache-types.js";
import type { TensorInput } from "../api/options.js";
import type { AnyAttentionResult, NoOptions, Returned } from "../api/results.js";
import { Tensor } from "../api/tensor.js";
import { HeedError } from "../base/errors.js";
import { readBoolean, readChoice, readCount } from "../base/read-values.js";
import { pointwise } from "./affine.js";
import { batchAndLength } from "./axes.js";
import { heldCache } from "./cache-locks.js";
import { chosenHeads } from "./chosen-heads.js";
import { handOut } from "./hand-out.js";
import { type BlockInputs, type BlockTensors, readInner } from "./inner-options.js";
import { Layer, type LayerOptions } from "./layer.js";
import { isGated, MLP, type MLPActivation } from "./mlp.js";
import {
  type InnerRope,
  MultiHeadAttention,
  type MultiHeadForwardOptions,
  type MultiHeadRule,
} from "./multi-head-attention.js";
import { LayerNorm, type NormOptions, RMSNorm } from "./norm.js";
import type { Pass } from "./pass.js";
import { readOnce, readShare, readShares, readSize, readSizes } from "./read.js";
import type { Filling, GivenParameters } from "./read-parameters.js";
import type { Scope } from "./scope.js";

/** The sizes and choices of a `TransformerBlock`. */
export interface TransformerBlockOptions extends LayerOptions {
  readonly dim: number;
  readonly heads: number;
  readonly kvHeads?: number | undefined;
  readonly headDim?: number | undefined;
  /** The width of the feed-forward network. Default 4 dim. */
  readonly hidden?: number | undefined;
  /** Default "gelu". */
  readonly activation?: MLPActivation | undefined;
  /** true: norms come before attention and the feed-forward network (pre-norm); false: after the residual sum (post-norm). Default true. */
  readonly normFirst?: boolean | undefined;
  /** true: besides those of normFirst, norms of the outputs of attention and of the feed-forward network, before the residual sum. Default false. */
  readonly sandwichNorm?: boolean | undefined;
  /** false: no norm before self attention, where norms come first. Default true. */
  readonly attentionNorm?: boolean | undefined;
  /** Default "layer". */
  readonly norm?: "layer" | "rms" | undefined;
  /** Default 1e-5. */
  readonly epsilon?: number | undefined;
  /**
   * Biases of all projections, or of those of query, key and value, of attention's output, and of the feed-forward network, and those
   * of layer norms, which an object alone can leave out. Default true.
   */
  readonly bias?:
    | boolean
    | { readonly qkv?: boolean; readonly out?: boolean; readonly mlp?: boolean; readonly norm?: boolean }
    | undefined;
  /** Adds cross attention to a memory. Default false. */
  readonly cross?: boolean | undefined;
  /** RMSNorms of self attention's queries and keys, head by head, with the block's epsilon. Default false. */
  readonly qkNorm?: boolean | undefined;
  /** Rotates self attention's queries and keys. Default false. */
  readonly rope?: InnerRope | false | undefined;
  /** The sliding window of self attention, where a call gives none. */
  readonly window?: readonly [number, number] | undefined;
  /** The share of numbers that `gradients` of heed/train drops of what attention and the feed-forward network add, or one of each. Default 0. */
  readonly dropout?: number | readonly [attention: number, mlp: number] | undefined;
  /** Likewise of the weights of attention. Default 0. */
  readonly attentionDropout?: number | undefined;
}

/** Options of an attention inside a block. */
export type InnerAttentionOptions = Omit<MultiHeadForwardOptions, "return" | "keep" | "signal" | "pass">;

/** The options of a call of a `TransformerBlock`. */
export interface BlockForwardOptions {
  /** Options of self attention. */
  readonly self?: InnerAttentionOptions | undefined;
  /** The memory of cross attention, [B, S, dim]. */
  readonly memory?: TensorInput | undefined;
  /** Options of cross attention. */
  readonly cross?: InnerAttentionOptions | undefined;
  /** Returns the weights. Default false. */
  readonly attentions?: boolean | undefined;
  readonly keep?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly pass?: Pass | undefined;
}

/** The weights of one block, [B, H, L, S]. */
export interface BlockAttentions<T> {
  readonly self: T;
  readonly cross: T | undefined;
}

/** What a `TransformerBlock` gives. */
export interface BlockResult<O> {
  readonly output: Returned<O>;
  /** Where they were asked for. */
  readonly attentions: BlockAttentions<Returned<O>> | undefined;
}

/** The rules of a block's attentions inside a pass. */
export interface BlockRules {
  readonly self: MultiHeadRule;
  readonly cross: MultiHeadRule | null;
}

/** The results of a block inside a pass. */
export interface BlockMade {
  readonly output: Tensor;
  readonly attentions: BlockAttentions<Tensor> | undefined;
  /** Those of self attention. */
  readonly scores: Tensor | undefined;
}

export const BLOCK_OPTIONS = [
  "dim",
  "heads",
  "kvHeads",
  "headDim",
  "hidden",
  "activation",
  "normFirst",
  "sandwichNorm",
  "attentionNorm",
  "norm",
  "epsilon",
  "bias",
  "cross",
  "qkNorm",
  "rope",
  "window",
  "dropout",
  "attentionDropout",
  "engine",
] as const;

export const BLOCK_FORWARD_OPTIONS = ["self", "memory", "cross", "attentions"] as const;

/**
 * Parameters: those of `self_attn`, `cross_attn`, `mlp`, and of the norms in their order, `norm1`, `norm2` and, with cross
 * attention, `norm3`; with sandwichNorm also those of `post_norm1`, `post_norm2` ... `load` also takes those of PyTorch's
 * nn.TransformerEncoderLayer and DecoderLayer.
 */
export class TransformerBlock extends Layer {
  readonly #attention: MultiHeadAttention;
  readonly #cross: MultiHeadAttention | null;
  readonly #mlp: MLP;
  readonly #norms: readonly (LayerNorm | RMSNorm | null)[];
  /** Those of outputs. */
  readonly #postNorms: readonly (LayerNorm | RMSNorm)[];
  readonly #isFirst: boolean;
  readonly #dim: number;
  readonly #dropout: readonly number[];

  constructor(options: TransformerBlockOptions) {
    const where = "TransformerBlock";
    const given = readSizes(where, options, BLOCK_OPTIONS);
    const { engine, kvHeads, headDim, activation, rope, window, epsilon } = given;
    super(where, engine);
    const dim = readSize(where, "dim", given["dim"]);
    const heads = readSize(where, "heads", given["heads"]);
    const hidden = readCount(where, "hidden", given["hidden"], 4 * dim);
    const { qkv, out, mlp, norm: normBias } = readBias(where, given["bias"], !isGated(activation));
    const dropout = readShare(where, "attentionDropout", given["attentionDropout"]);
    const attention = { embedDim: dim, heads, kvHeads, headDim, bias: { qkv, out }, dropout, engine };
    const hasCross = readBoolean(where, "cross", given["cross"], false);
    const qkNorm = readBoolean(where, "qkNorm", given["qkNorm"], false) && { epsilon };
    const makeNorm = normMaker(where, { kind: given["norm"], bias: normBias, shape: dim, epsilon, engine });
    this.#dim = dim;
    this.#dropout = readShares(where, "dropout", given["dropout"]);
    this.#isFirst = readBoolean(where, "normFirst", given["normFirst"], true);
    this.#attention = this.part("self_attn", new MultiHeadAttention({ ...attention, qkNorm, rope, window }));
    this.#cross = hasCross
      ? this.part("cross_attn", new MultiHeadAttention(attention))
      : this.without("multihead_attn.out_proj.weight", "cross_attn.out_proj.weight", "norm3.weight");
    this.#mlp = this.part("mlp", new MLP({ dim, hidden, activation, bias: mlp, engine }));
    const names = hasCross ? ["norm1", "norm2", "norm3"] : ["norm1", "norm2"];
    const hasFirst = readBoolean(where, "attentionNorm", given["attentionNorm"], true);
    if (!hasFirst && !this.#isFirst) {
      throw new HeedError("option", `${where}: attentionNorm: false is for normFirst: true, got both false`);
    }
    this.#norms = names.map((name, at) =>
      at === 0 && !hasFirst ? this.without(`${name}.weight`) : this.part(name, makeNorm()),
    );
    const hasPost = readBoolean(where, "sandwichNorm", given["sandwichNorm"], false);
    const post = names.map((name) => `post_${name}`);
    this.#postNorms = hasPost ? post.map((name) => this.part(name, makeNorm())) : [];
    if (!hasPost) this.without(...post.map((name) => `${name}.weight`));
  }

  protected override fill(parameters: GivenParameters, prefix: string): Filling {
    const isTorch = parameters.has(`${prefix}linear1.weight`);
    return super.fill(isTorch ? fromTorchBlock(parameters, prefix) : parameters, prefix);
  }

  /** x [B, L, dim] or [L, dim] to the same shape. */
  forward<const O extends BlockForwardOptions = NoOptions>(x: TensorInput, options?: O): Promise<BlockResult<O>>;
  forward(x: unknown, options?: unknown): Promise<BlockResult<{ readonly keep: boolean }>> {
    return this.pass(options, BLOCK_FORWARD_OPTIONS, async (scope, given, keep) => {
      const inputs = await readInner(this.where, scope, x, given, { dim: this.#dim, hasCross: this.#cross !== null });
      const rulesFor = await this.rules(scope, this.where, inputs);
      const rules = rulesFor(heldCache(scope.held, this.where, inputs.self.cache));
      const { output, attentions } = await this.compute(scope, inputs, rules);
      return {
        output: await handOut(scope, output, keep),
        attentions: attentions && (await handOutAttentions(scope, attentions, keep)),
      };
    });
  }

  /** @internal Blocks of the same options otherwise have the same rules where this is the same. */
  get variant(): string {
    return this.#attention.variant;
  }

  /** @internal Reads the options of attention. The result makes rules for a cache of self attention, or for none. */
  async rules(
    scope: Scope,
    where: string,
    { x, memory, self, cross, attentions, packing = null }: BlockInputs,
  ): Promise<(cache: HeldCache | null) => BlockRules> {
    const { watch } = scope;
    const weights = attentions || watch?.needsWeights ? weightsOf(scope) : false;
    const wanted = { return: { weights, scores: watch?.scores?.stage } };
    const query = packing === null ? batchAndLength(x) : ([packing.count, packing.longest] as const);
    const key = memory === null ? query : batchAndLength(memory);
    const ofSelf = { query, key: query, value: query };
    const ofCross = { query, key, value: key };
    const ruleFor = await this.#attention.rules(scope, where, { ...self, ...wanted }, ofSelf, packing);
    const crossFor = await this.#cross?.rules(scope, where, { ...cross, return: { weights } }, ofCross);
    const crossRule = crossFor?.(heldCache(scope.held, where, cross.cache)) ?? null;
    return (cache) => ({ self: ruleFor(cache), cross: crossRule });
  }

  /** @internal */
  compute(scope: Scope, { x, memory }: BlockTensors, { self, cross }: BlockRules): Promise<BlockMade> {
    const act = async (inner: Scope): Promise<BlockMade> => {
      const made: { self?: Tensor; cross?: Tensor; scores?: Tensor } = {};
      const outputOf = ({ output, weights, scores }: AnyAttentionResult, name: "self" | "cross"): Tensor => {
        if (!(output instanceof Tensor)) throw new TypeError("attention in a pass makes a tensor");
        if (weights instanceof Tensor) made[name] = weights;
        if (scores instanceof Tensor) made.scores = scores;
        return output;
      };
      const attended = await this.#residual(inner, 0, x, async (query, addend) => {
        const tensors = { query, key: query, value: query };
        return outputOf(await this.#attention.compute(inner, tensors, self, { addend }), "self");
      });
      const crossAttention = this.#cross;
      const both =
        crossAttention === null || memory === null || cross === null
          ? attended
          : await this.#residual(inner, 1, attended, async (query, addend) => {
              const tensors = { query, key: memory, value: memory };
              return outputOf(await crossAttention.compute(inner, tensors, cross, { addend }), "cross");
            });
      const output = await this.#residual(inner, this.#norms.length - 1, both, (y, addend) =>
        this.#mlp.compute(inner, y, { addend }),
      );
      const { self: weights, scores } = made;
      return { output, attentions: weights && { self: weights, cross: made.cross }, scores };
    };
    return scope.block(act, ({ output, attentions: made, scores }) => [output, made?.self, made?.cross, scores]);
  }

  /** A residual connection around `act`, with norms before or after. `act` adds `addend` to its result. */
  async #residual(
    scope: Scope,
    at: number,
    x: Tensor,
    act: (y: Tensor, addend: Tensor | null) => Promise<Tensor>,
  ): Promise<Tensor> {
    const norm = this.#norms[at] ?? null;
    const postNorm = this.#postNorms[at];
    const input = norm === null || !this.#isFirst ? x : await norm.compute(scope, x);
    const [ofAttention = 0, ofMlp = 0] = scope.drops === null ? [] : this.#dropout;
    const p = at === this.#norms.length - 1 ? ofMlp : ofAttention;
    const isSum = postNorm === undefined && p === 0;
    const made = await act(input, isSum ? x : null);
    const branch = postNorm === undefined ? made : await postNorm.compute(scope, made);
    const sum = isSum ? made : await pointwise(scope, await scope.dropout(branch, p), { addend: x });
    return norm === null || this.#isFirst ? sum : norm.compute(scope, sum);
  }
}

/** Returns the weights of a block to the caller, as arrays or tensors. */
export async function handOutAttentions(
  scope: Scope,
  { self, cross }: BlockAttentions<Tensor>,
  keep: boolean,
): Promise<BlockAttentions<Returned<{ readonly keep: boolean }>>> {
  const handed = async (weights: Tensor) => handOut(scope, await chosenHeads(scope, weights), keep);
  return { self: await handed(self), cross: cross && (await handed(cross)) };
}

/** Those of all queries, or of those that are looked at. */
function weightsOf({ watch }: Scope): unknown {
  return watch?.choice.rows === undefined ? true : { rows: watch.choice.rows };
}

interface Biases {
  readonly qkv: boolean;
  readonly out: boolean;
  readonly mlp: boolean;
  readonly norm: boolean;
}

function readBias(where: string, value: unknown, absent: boolean): Biases {
  if (typeof value === "boolean") return { qkv: value, out: value, mlp: value, norm: true };
  const given = readOnce(where, "bias", value, ["qkv", "out", "mlp", "norm"]);
  const read = (name: string, other: boolean): boolean => readBoolean(where, `bias.${name}`, given[name], other);
  return { qkv: read("qkv", true), out: read("out", true), mlp: read("mlp", absent), norm: read("norm", true) };
}

/** Makes the norms of a block or a stack, from its options. */
export function normMaker(
  where: string,
  {
    kind,
    bias,
    ...rest
  }: Pick<NormOptions, "shape" | "epsilon" | "engine"> & { readonly kind: unknown; readonly bias: boolean },
): () => LayerNorm | RMSNorm {
  const isLayer = readChoice(where, "norm", kind, ["layer", "rms"], "layer") === "layer";
  return () => (isLayer ? new LayerNorm({ ...rest, bias }) : new RMSNorm(rest));
}

/** Whether the norms of a block with this option have biases. */
export const hasNormBias = (where: string, bias: unknown): boolean => readBias(where, bias, true).norm;

const TORCH_NAMES = { "mlp.up_proj": "linear1", "mlp.down_proj": "linear2", cross_attn: "multihead_attn" } as const;

/** Renames parameters of nn.TransformerEncoderLayer and DecoderLayer. */
function fromTorchBlock(parameters: GivenParameters, prefix: string): GivenParameters {
  const made = new Map(parameters);
  for (const [ours, theirs] of Object.entries(TORCH_NAMES)) {
    for (const [name, value] of parameters) {
      const start = `${prefix}${theirs}.`;
      if (name.startsWith(start)) made.set(`${prefix}${ours}.${name.slice(start.length)}`, value);
    }
  }
  return made;
}
