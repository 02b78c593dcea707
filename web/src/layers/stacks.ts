// Stacks of transformer blocks: encoders, decoders, and both together.

import type { HeldCache } from "../api/cache-types.js";
import type { TensorInput } from "../api/options.js";
import type { NoOptions, Returned } from "../api/results.js";
import type { Tensor } from "../api/tensor.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guard } from "../base/guard.js";
import { isRecord, readBoolean } from "../base/read-values.js";
import { listOf } from "../base/typed-array.js";
import { copied } from "./affine.js";
import { hookedResidual } from "./apply-hooks.js";
import { batchAndLength } from "./axes.js";
import { heldCache } from "./cache-locks.js";
import { chosenScores } from "./chosen-heads.js";
import { handOut } from "./hand-out.js";
import { type BlockInputs, readInner } from "./inner-options.js";
import { Layer } from "./layer.js";
import type { GivenAttention, MultiHeadRule } from "./multi-head-attention.js";
import type { LayerNorm, RMSNorm } from "./norm.js";
import { MOST_LAYERS, readOnce, readSize, readSizes } from "./read.js";
import { RelativeBias, type RelativeBiasRule } from "./relative-bias.js";
import type { Scope } from "./scope.js";
import { type LayerCaches, readCaches } from "./stack-caches.js";
import {
  BLOCK_FORWARD_OPTIONS,
  BLOCK_OPTIONS,
  type BlockAttentions,
  type BlockForwardOptions,
  type BlockRules,
  handOutAttentions,
  hasNormBias,
  type InnerAttentionOptions,
  normMaker,
  TransformerBlock,
  type TransformerBlockOptions,
} from "./transformer-block.js";

/** The sizes of an `Encoder` or a `Decoder`. */
export interface StackOptions extends TransformerBlockOptions {
  /** The number of blocks. */
  readonly layers: number;
  /** A norm after the last block. Default: the value of normFirst. */
  readonly finalNorm?: boolean | undefined;
  /** What differs between blocks: for each of them, options in place of the stack's. */
  readonly byLayer?: readonly LayerVariant[] | undefined;
  /** A learned bias of self attention by the distance of query and key, one table for all blocks. */
  readonly relativeBias?: RelativeBiasRule | undefined;
}

/** Options of a block that may differ within a stack. */
export type LayerVariant = Pick<TransformerBlockOptions, "rope" | "window" | "attentionNorm">;

/** The options of a call of an `Encoder` or a `Decoder`. */
export interface StackForwardOptions extends BlockForwardOptions {
  /** KV caches of the engine, one for each block's self attention, or for each block a list with one of each batch entry. x comes after the tokens in them. */
  readonly caches?: LayerCaches | undefined;
}

/** What an `Encoder` or a `Decoder` gives. */
export interface StackResult<O> {
  readonly output: Returned<O>;
  /** The weights of each block, where they were asked for. */
  readonly attentions: readonly BlockAttentions<Returned<O>>[] | undefined;
}

/** The results of a stack inside a pass. */
export interface StackMade {
  readonly output: Tensor;
  readonly attentions: readonly BlockAttentions<Tensor>[] | undefined;
}

const STACK_OPTIONS = [...BLOCK_OPTIONS, "layers", "finalNorm", "byLayer", "relativeBias"];

/** Those that are for one of the stacks of an EncoderDecoder. */
const OF_ONE = ["layers", "cross", "byLayer", "relativeBias"];

/** Parameters: those of `layers.0`, `layers.1` ..., of `norm`, and of `relative_bias` [buckets, heads]. */
class Stack extends Layer {
  readonly layers: number;
  readonly #blocks: readonly [TransformerBlock, ...TransformerBlock[]];
  readonly #norm: LayerNorm | RMSNorm | null;
  readonly #relative: RelativeBias | null;
  readonly #hasCross: boolean;
  readonly #dim: number;
  readonly #defaults: GivenAttention;

  protected constructor(where: string, options: StackOptions, defaults: GivenAttention) {
    const given = readSizes(where, options, STACK_OPTIONS);
    const { layers, finalNorm: _, byLayer, relativeBias, ...block } = given;
    super(where, given.engine);
    const length = readSize(where, "layers", layers, MOST_LAYERS);
    this.layers = length;
    const variants = readVariants(where, byLayer, length);
    const made = (at: number): TransformerBlock =>
      this.part(`layers.${at}`, new TransformerBlock({ ...block, ...variants[at] }));
    this.#blocks = [made(0), ...Array.from({ length: length - 1 }, (_, at) => made(at + 1))];
    const { dim: shape, epsilon, engine } = given;
    const isWanted = readBoolean(where, "finalNorm", given["finalNorm"], given.normFirst ?? true);
    const last = normMaker(where, { kind: given.norm, bias: hasNormBias(where, given.bias), shape, epsilon, engine });
    this.#norm = isWanted ? this.part("norm", last()) : this.without("norm.weight");
    this.#relative =
      relativeBias === undefined
        ? this.without("relative_bias.weight")
        : this.part("relative_bias", new RelativeBias(given.heads, relativeBias, engine));
    this.#hasCross = given.cross === true;
    this.#dim = given.dim;
    this.#defaults = defaults;
  }

  /** x [B, L, dim] or [L, dim] to the same shape. Options of attention are for every block. */
  forward<const O extends StackForwardOptions = NoOptions>(x: TensorInput, options?: O): Promise<StackResult<O>>;
  forward(x: unknown, options?: unknown): Promise<StackResult<{ readonly keep: boolean }>> {
    return this.pass(options, [...BLOCK_FORWARD_OPTIONS, "caches"], async (scope, given, keep) => {
      const inputs = await readInner(this.where, scope, x, given, { dim: this.#dim, hasCross: this.#hasCross });
      const caches = readCaches(scope, this.where, given["caches"], this.layers);
      return handOutStack(scope, await this.compute(scope, inputs, caches), keep);
    });
  }

  /** @internal */
  async compute(scope: Scope, inputs: BlockInputs, caches: readonly HeldCache[] | null = null): Promise<StackMade> {
    const steps = await this.#steps(scope, await this.#biased(scope, inputs, caches), caches);
    const attentions: BlockAttentions<Tensor>[] = [];
    const { memory } = inputs;
    let { x } = inputs;
    const { watch } = scope;
    watch?.checkLayers(this.where, this.layers);
    for (const [at, { block, rules }] of steps.entries()) {
      watch?.states?.push(x);
      const made = await block.compute(scope, { x, memory }, watch?.takes(at) === false ? unseen(rules) : rules);
      if (at > 0 && !watch?.states) scope.drop(x);
      x = await hookedResidual(scope, block, made.output);
      if (made.attentions !== undefined) attentions.push(made.attentions);
      if (made.scores !== undefined) watch?.scores?.made.push(made.scores);
    }
    const output = this.#norm === null ? x : await this.#norm.compute(scope, x);
    watch?.states?.push(output);
    return {
      output,
      attentions: inputs.attentions ? attentions : undefined,
    };
  }

  async #biased(scope: Scope, inputs: BlockInputs, caches: readonly HeldCache[] | null): Promise<BlockInputs> {
    const { x, self, packing } = inputs;
    if (this.#relative === null) return inputs;
    if (self.bias !== undefined) {
      throw new HeedError("option", `${this.where}: self.bias must not be given beside relativeBias, got both`);
    }
    const cache = caches?.[0] ?? heldCache(scope.held, this.where, self.cache);
    if (cache?.lengths) {
      throw new HeedError(
        "unsupported",
        `${this.where}: with relativeBias all batch entries must have one cache a block`,
      );
    }
    const length = packing?.longest ?? batchAndLength(x)[1];
    return { ...inputs, self: { ...self, bias: await this.#relative.compute(scope, length, cache) } };
  }

  /** All blocks with their rules. Their options are read once, or once for each window. */
  async #steps(
    scope: Scope,
    inputs: BlockInputs,
    caches: readonly HeldCache[] | null,
  ): Promise<readonly { readonly block: TransformerBlock; readonly rules: BlockRules }[]> {
    const { self, cross } = inputs;
    this.#checkCaches(self, cross, caches);
    const own = heldCache(scope.held, this.where, self.cache);
    const given = { ...inputs, self: { ...this.#defaults, ...self } };
    const known = new Map<string, Awaited<ReturnType<TransformerBlock["rules"]>>>();
    for (const block of this.#blocks) {
      if (!known.has(block.variant)) known.set(block.variant, await block.rules(scope, this.where, given));
    }
    return this.#blocks.flatMap((block, at) => {
      const rulesFor = known.get(block.variant);
      return rulesFor === undefined ? [] : [{ block, rules: rulesFor(caches?.[at] ?? own) }];
    });
  }

  #checkCaches(self: GivenAttention, cross: GivenAttention, caches: readonly HeldCache[] | null): void {
    if (caches !== null && self.cache !== undefined) {
      throw new HeedError("option", `${this.where}: caches and self.cache exclude each other`);
    }
    if (this.layers === 1 || [self, cross].every((options) => options.cache === undefined)) return;
    const rule = "a cache holds the keys of one block";
    throw new HeedError("option", `${this.where}: ${rule}, got one for ${this.layers} blocks`);
  }
}

/** The rules of a block whose weights and scores nobody looks at. */
function unseen({ self, cross }: BlockRules): BlockRules {
  const bare = (rule: MultiHeadRule): MultiHeadRule => ({
    ...rule,
    problem: { ...rule.problem, weights: null, scores: null },
  });
  return { self: bare(self), cross: cross && bare(cross) };
}

function readVariants(where: string, value: unknown, layers: number): readonly LayerVariant[] {
  if (value === undefined) return [];
  const given = guard("option", `${where}: reading byLayer`, () => listOf<object>(value, MOST_LAYERS, isRecord));
  if (given?.length === layers) {
    return given.map((one, at) => readOnce(where, `byLayer[${at}]`, one, ["rope", "window", "attentionNorm"]));
  }
  const got = given === null ? showValue(value) : `${given.length}`;
  throw new HeedError("option", `${where}: byLayer must be a list of options for each of ${layers} layers, got ${got}`);
}

/** A stack in which every token attends to all tokens that are not masked. */
export class Encoder extends Stack {
  constructor(options: StackOptions) {
    super("Encoder", options, {});
  }
}

/** A stack in which tokens attend to themselves and those before them: `causal` is true unless it is given. */
export class Decoder extends Stack {
  constructor(options: StackOptions) {
    super("Decoder", options, { causal: true });
  }
}

/** The sizes of an `EncoderDecoder`. */
export interface EncoderDecoderOptions
  extends Omit<StackOptions, "layers" | "cross" | "finalNorm" | "byLayer" | "relativeBias"> {
  readonly encoderLayers: number;
  readonly decoderLayers: number;
  /** A norm after the last block of each. Default true, as in nn.Transformer. */
  readonly finalNorm?: boolean | undefined;
}

/** The options of a call of an `EncoderDecoder`. */
export interface EncoderDecoderForwardOptions extends Omit<BlockForwardOptions, "memory"> {
  /** Options of the encoder's attention. */
  readonly encoder?: InnerAttentionOptions | undefined;
}

/** The options of `EncoderDecoder.encode`. */
export type EncodeOptions = Omit<BlockForwardOptions, "memory" | "cross">;

/** The options of `EncoderDecoder.decode`. */
export type DecodeOptions = Omit<StackForwardOptions, "memory">;

/** What an `EncoderDecoder` gives. */
export interface EncoderDecoderResult<O> extends StackResult<O> {
  /** The output of the encoder, to which the decoder attended. */
  readonly memory: Returned<O>;
  readonly encoderAttentions: readonly BlockAttentions<Returned<O>>[] | undefined;
}

/** Parameters: those of `encoder` and `decoder`. */
export class EncoderDecoder extends Layer {
  readonly #encoder: Encoder;
  readonly #decoder: Decoder;
  readonly #dim: number;

  constructor(options: EncoderDecoderOptions) {
    const where = "EncoderDecoder";
    const names = STACK_OPTIONS.filter((name) => !OF_ONE.includes(name));
    const given = readSizes(where, options, [...names, "encoderLayers", "decoderLayers"]);
    const { encoderLayers, decoderLayers, finalNorm = true, ...block } = given;
    const stack = { ...block, finalNorm };
    for (const [name, layers] of Object.entries({ encoderLayers, decoderLayers })) {
      readSize(where, name, layers, MOST_LAYERS);
    }
    super(where, given.engine);
    this.#dim = given.dim;
    this.#encoder = this.part("encoder", new Encoder({ ...stack, layers: encoderLayers }));
    this.#decoder = this.part("decoder", new Decoder({ ...stack, layers: decoderLayers, cross: true }));
  }

  /** Source [B, S, dim] and target [B, L, dim] to [B, L, dim]. */
  forward<const O extends EncoderDecoderForwardOptions = NoOptions>(
    source: TensorInput,
    target: TensorInput,
    options?: O,
  ): Promise<EncoderDecoderResult<O>>;
  forward(
    source: unknown,
    target: unknown,
    options?: unknown,
  ): Promise<EncoderDecoderResult<{ readonly keep: boolean }>> {
    return this.pass(options, ["self", "cross", "attentions", "encoder"], async (scope, given, keep) => {
      const { attentions, encoder: self } = given;
      const memory = await this.#encode(scope, source, { attentions, self });
      const decoded = await this.#decode(scope, target, { ...given, memory: memory.output });
      const made = await handOutStack(scope, decoded, keep);
      const encoded = await handOutStack(scope, memory, keep);
      return { ...made, memory: encoded.output, encoderAttentions: encoded.attentions };
    });
  }

  /** Source [B, S, dim] to the memory of the same shape that `decode` takes, without a copy if it was kept. */
  encode<const O extends EncodeOptions = NoOptions>(source: TensorInput, options?: O): Promise<StackResult<O>>;
  encode(source: unknown, options?: unknown): Promise<StackResult<{ readonly keep: boolean }>> {
    return this.pass(options, ["self", "attentions"], async (scope, given, keep) => {
      return handOutStack(scope, await this.#encode(scope, source, given), keep);
    });
  }

  /** Target [B, L, dim] to the same shape, over a memory [B, S, dim]. */
  decode<const O extends DecodeOptions = NoOptions>(
    target: TensorInput,
    memory: TensorInput,
    options?: O,
  ): Promise<StackResult<O>>;
  decode(target: unknown, memory: unknown, options?: unknown): Promise<StackResult<{ readonly keep: boolean }>> {
    return this.pass(options, ["self", "cross", "attentions", "caches"], async (scope, given, keep) => {
      return handOutStack(scope, await this.#decode(scope, target, { ...given, memory }), keep);
    });
  }

  async #encode(scope: Scope, source: unknown, given: Readonly<Record<string, unknown>>): Promise<StackMade> {
    const called = { name: "source", dim: this.#dim, hasCross: false };
    return this.#encoder.compute(scope, await readInner(this.where, scope, source, given, called));
  }

  async #decode(scope: Scope, target: unknown, given: Readonly<Record<string, unknown>>): Promise<StackMade> {
    const called = { name: "target", dim: this.#dim, hasCross: true };
    const inputs = await readInner(this.where, scope, target, given, called);
    return this.#decoder.compute(scope, inputs, readCaches(scope, this.where, given["caches"], this.#decoder.layers));
  }
}

/** @internal Returns the results of a stack to the caller, as arrays or tensors. */
export async function handOutStack(
  scope: Scope,
  { output, attentions }: StackMade,
  keep: boolean,
): Promise<StackResult<{ readonly keep: boolean }>> {
  const handed = await handOut(scope, output, keep);
  if (attentions === undefined) return { output: handed, attentions };
  const weights = [];
  for (const one of attentions) weights.push(await handOutAttentions(scope, one, keep));
  return { output: handed, attentions: weights };
}

/** @internal Returns the hidden states of a pass that looks at them. */
export async function handOutStates(
  scope: Scope,
  keep: boolean,
): Promise<readonly Returned<{ readonly keep: boolean }>[] | undefined> {
  const { states } = scope.watch ?? { states: null };
  if (states === null) return undefined;
  const handed = [];
  for (const [at, state] of states.entries()) {
    // The last one may be a result too, and whoever disposes of one of them keeps the other.
    const own = keep && at === states.length - 1 ? await copied(scope, scope.rows(state), state.shape) : state;
    handed.push(await handOut(scope, own, keep));
  }
  return handed;
}

/** @internal Returns the scores of a pass that looks at them. */
export async function handOutScores(
  scope: Scope,
  keep: boolean,
): Promise<readonly Returned<{ readonly keep: boolean }>[] | undefined> {
  const { scores } = scope.watch ?? { scores: null };
  if (scores === null) return undefined;
  const handed = [];
  for (const one of scores.made) handed.push(await handOut(scope, await chosenScores(scope, one), keep));
  return handed;
}
