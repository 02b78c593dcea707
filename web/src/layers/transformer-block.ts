// The transformer block: attention and a feed-forward network, each with a norm and a residual connection.

import type { HeldCache } from "../api/cache-types.js";
import type { RopeOptions } from "../api/operations/options.js";
import type { TensorInput } from "../api/options.js";
import type { AnyAttentionResult, NoOptions, Returned } from "../api/results.js";
import { Tensor } from "../api/tensor.js";
import { readBoolean, readChoice, readCount } from "../base/read-values.js";
import { batchAndLength } from "./axes.js";
import { heldCache } from "./cache-locks.js";
import { chosenHeads } from "./chosen-heads.js";
import { handOut } from "./hand-out.js";
import { type BlockInputs, type BlockTensors, readInner } from "./inner-options.js";
import { Layer, type LayerOptions } from "./layer.js";
import { MLP, type MLPActivation } from "./mlp.js";
import { MultiHeadAttention, type MultiHeadForwardOptions, type MultiHeadRule } from "./multi-head-attention.js";
import { LayerNorm, RMSNorm } from "./norm.js";
import type { Filling, GivenParameters } from "./parameters.js";
import type { Pass } from "./pass.js";
import { readOnce, readSize, readSizes } from "./read.js";
import type { Scope } from "./scope.js";

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
  /** Default "layer". */
  readonly norm?: "layer" | "rms" | undefined;
  /** Default 1e-5. */
  readonly epsilon?: number | undefined;
  /** Biases of all projections, or of those of query, key and value, of attention's output, and of the feed-forward network. Default true. */
  readonly bias?: boolean | { readonly qkv?: boolean; readonly out?: boolean; readonly mlp?: boolean } | undefined;
  /** Adds cross attention to a memory. Default false. */
  readonly cross?: boolean | undefined;
  readonly rope?: Pick<RopeOptions, "base" | "interleaved" | "rotaryDim" | "scaling"> | undefined;
}

/** Options of an attention inside a block. */
export type InnerAttentionOptions = Omit<MultiHeadForwardOptions, "return" | "keep" | "signal" | "pass">;

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
}

export const BLOCK_OPTIONS = [
  "dim",
  "heads",
  "kvHeads",
  "headDim",
  "hidden",
  "activation",
  "normFirst",
  "norm",
  "epsilon",
  "bias",
  "cross",
  "rope",
  "engine",
] as const;

export const BLOCK_FORWARD_OPTIONS = ["self", "memory", "cross", "attentions"] as const;

/**
 * Parameters: those of `self_attn`, `cross_attn`, `mlp`, and of the norms in their order, `norm1`, `norm2` and, with cross
 * attention, `norm3`. `load` also takes those of PyTorch's nn.TransformerEncoderLayer and DecoderLayer.
 */
export class TransformerBlock extends Layer {
  readonly #attention: MultiHeadAttention;
  readonly #cross: MultiHeadAttention | null;
  readonly #mlp: MLP;
  readonly #norms: readonly (LayerNorm | RMSNorm)[];
  readonly #isFirst: boolean;
  readonly #dim: number;

  constructor(options: TransformerBlockOptions) {
    const where = "TransformerBlock";
    const given = readSizes(where, options, BLOCK_OPTIONS);
    const { engine, kvHeads, headDim, activation, rope, epsilon } = given;
    super(where, engine);
    const dim = readSize(where, "dim", given["dim"]);
    const heads = readSize(where, "heads", given["heads"]);
    const hidden = readCount(where, "hidden", given["hidden"], 4 * dim);
    const { qkv, out, mlp } = readBias(where, given["bias"], activation !== "swiglu");
    const attention = { embedDim: dim, heads, kvHeads, headDim, bias: { qkv, out }, engine };
    const hasCross = readBoolean(where, "cross", given["cross"], false);
    const kind = readChoice(where, "norm", given["norm"], ["layer", "rms"], "layer");
    const norm = { shape: dim, epsilon, engine };
    this.#dim = dim;
    this.#isFirst = readBoolean(where, "normFirst", given["normFirst"], true);
    this.#attention = this.part("self_attn", new MultiHeadAttention({ ...attention, rope }));
    this.#cross = hasCross
      ? this.part("cross_attn", new MultiHeadAttention(attention))
      : this.without("multihead_attn.out_proj.weight", "cross_attn.out_proj.weight", "norm3.weight");
    this.#mlp = this.part("mlp", new MLP({ dim, hidden, activation, bias: mlp, engine }));
    this.#norms = (hasCross ? ["norm1", "norm2", "norm3"] : ["norm1", "norm2"]).map((name) =>
      this.part(name, kind === "layer" ? new LayerNorm(norm) : new RMSNorm(norm)),
    );
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

  /** @internal Reads the options of attention. The result makes rules for a cache of self attention, or for none. */
  async rules(
    scope: Scope,
    where: string,
    { x, memory, self, cross, attentions }: BlockInputs,
  ): Promise<(cache: HeldCache | null) => BlockRules> {
    const wanted = attentions || scope.watch?.needsWeights ? { return: { weights: weightsOf(scope) } } : {};
    const [query, key] = [batchAndLength(x), batchAndLength(memory ?? x)];
    const ofSelf = { query, key: query, value: query };
    const ofCross = { query, key, value: key };
    const ruleFor = await this.#attention.rules(scope, where, { ...self, ...wanted }, ofSelf);
    const crossFor = await this.#cross?.rules(scope, where, { ...cross, ...wanted }, ofCross);
    const crossRule = crossFor?.(heldCache(scope.held, where, cross.cache)) ?? null;
    return (cache) => ({ self: ruleFor(cache), cross: crossRule });
  }

  /** @internal */
  compute(scope: Scope, { x, memory }: BlockTensors, { self, cross }: BlockRules): Promise<BlockMade> {
    const act = async (inner: Scope): Promise<BlockMade> => {
      const made: { self?: Tensor; cross?: Tensor } = {};
      const outputOf = ({ output, weights }: AnyAttentionResult, name: "self" | "cross"): Tensor => {
        if (!(output instanceof Tensor)) throw new TypeError("attention in a pass makes a tensor");
        if (weights instanceof Tensor) made[name] = weights;
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
      const { self: weights } = made;
      return { output, attentions: weights && { self: weights, cross: made.cross } };
    };
    return scope.block(act, ({ output, attentions: made }) => [output, made?.self, made?.cross]);
  }

  /** A residual connection around `act`, with a norm before or after. `act` adds `addend` to its result. */
  async #residual(
    scope: Scope,
    at: number,
    x: Tensor,
    act: (y: Tensor, addend: Tensor) => Promise<Tensor>,
  ): Promise<Tensor> {
    const norm = this.#norms[at];
    if (norm === undefined) throw new TypeError(`a block has no norm ${at}`);
    if (this.#isFirst) return act(await norm.compute(scope, x), x);
    return norm.compute(scope, await act(x, x));
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

function readBias(
  where: string,
  value: unknown,
  absent: boolean,
): { readonly qkv: boolean; readonly out: boolean; readonly mlp: boolean } {
  if (typeof value === "boolean") return { qkv: value, out: value, mlp: value };
  const given = readOnce(where, "bias", value, ["qkv", "out", "mlp"]);
  const read = (name: string, other: boolean): boolean => readBoolean(where, `bias.${name}`, given[name], other);
  return { qkv: read("qkv", true), out: read("out", true), mlp: read("mlp", absent) };
}

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
