// Blocks on top of each other: encoders, decoders, and both together.

import { HeedError } from "../api/errors.js";
import type { TensorInput } from "../api/options.js";
import { readBoolean, readCount } from "../api/read-values.js";
import type { NoOptions, Returned } from "../api/results.js";
import type { Tensor } from "../api/tensor.js";
import { readInner } from "./inner-options.js";
import { Layer } from "./layer.js";
import { LayerNorm, RMSNorm } from "./norm.js";
import { readSizes, required } from "./read.js";
import { handOut, type Scope } from "./scope.js";
import {
  BLOCK_FORWARD_OPTIONS,
  BLOCK_OPTIONS,
  type BlockAttentions,
  type BlockForwardOptions,
  type BlockInputs,
  handOutAttentions,
  type InnerAttentionOptions,
  TransformerBlock,
  type TransformerBlockOptions,
} from "./transformer-block.js";

export interface StackOptions extends TransformerBlockOptions {
  /** Blocks. */
  readonly layers: number;
  /** A norm after the last block. Default: with normFirst. */
  readonly finalNorm?: boolean | undefined;
}

export interface StackResult<O> {
  readonly output: Returned<O>;
  /** Of each block, where they were asked for. */
  readonly attentions: readonly BlockAttentions<Returned<O>>[] | undefined;
}

/** What a stack makes inside a pass. */
export interface StackMade {
  readonly output: Tensor;
  readonly attentions: readonly BlockAttentions<Tensor>[];
}

const STACK_OPTIONS = [...BLOCK_OPTIONS, "layers", "finalNorm"];

/** Parameters: those of `layers.0`, `layers.1` ..., and of `norm`. */
class Stack extends Layer {
  readonly #blocks: readonly TransformerBlock[];
  readonly #norm: LayerNorm | RMSNorm | null;
  readonly #hasCross: boolean;
  readonly #dim: number;
  readonly #defaults: Readonly<Record<string, unknown>>;

  protected constructor(where: string, options: StackOptions, defaults: Readonly<Record<string, unknown>>) {
    const given = readSizes(where, options, STACK_OPTIONS);
    const { layers, finalNorm: _, ...block } = options;
    super(where, options.engine);
    const count = required(where, "layers", readCount(where, "layers", layers, null));
    this.#blocks = Array.from({ length: count }, (_, at) => this.part(`layers.${at}`, new TransformerBlock(block)));
    const { dim: shape, epsilon, engine } = options;
    const isWanted = readBoolean(where, "finalNorm", given["finalNorm"], options.normFirst ?? true);
    const last = (): LayerNorm | RMSNorm =>
      options.norm === "rms" ? new RMSNorm({ shape, epsilon, engine }) : new LayerNorm({ shape, epsilon, engine });
    this.#norm = isWanted ? this.part("norm", last()) : this.without("norm.weight");
    this.#hasCross = options.cross === true;
    this.#dim = options.dim;
    this.#defaults = defaults;
  }

  /** x [B, L, dim] or [L, dim] to the same shape. Options of attention go to every block. */
  forward<const O extends BlockForwardOptions = NoOptions>(x: TensorInput, options?: O): Promise<StackResult<O>>;
  forward(x: unknown, options?: unknown): Promise<StackResult<{ readonly keep: boolean }>> {
    return this.pass(options, BLOCK_FORWARD_OPTIONS, async (scope, given, keep) => {
      const inputs = await readInner(this.where, scope, x, given, { dim: this.#dim, hasCross: this.#hasCross });
      return handOutStack(scope, await this.compute(scope, inputs), inputs.attentions, keep);
    });
  }

  /** @internal `selfOf` are options of one block's attention beside the others. */
  async compute(
    scope: Scope,
    inputs: BlockInputs,
    selfOf: (block: number) => Readonly<Record<string, unknown>> = () => ({}),
  ): Promise<StackMade> {
    if (this.#blocks.length > 1 && [inputs.self, inputs.cross].some((options) => options["cache"] !== undefined)) {
      throw new HeedError(
        "option",
        `${this.where}: a cache holds the keys of one block, got one for ${this.#blocks.length} blocks`,
      );
    }
    const attentions: BlockAttentions<Tensor>[] = [];
    let { x } = inputs;
    for (const [at, block] of this.#blocks.entries()) {
      const self = { ...this.#defaults, ...inputs.self, ...selfOf(at) };
      const made = await block.compute(scope, { ...inputs, x, self });
      if (at > 0) scope.drop(x);
      x = made.output;
      if (made.attentions !== undefined) attentions.push(made.attentions);
    }
    return { output: this.#norm === null ? x : await this.#norm.compute(scope, x), attentions };
  }
}

/** Every token attends to all, but for what a mask says. */
export class Encoder extends Stack {
  constructor(options: StackOptions) {
    super("Encoder", options, {});
  }
}

/** Tokens attend to those before them and themselves: `causal` is true unless it is given. */
export class Decoder extends Stack {
  constructor(options: StackOptions) {
    super("Decoder", options, { causal: true });
  }
}

export interface EncoderDecoderOptions extends Omit<StackOptions, "layers" | "cross" | "finalNorm"> {
  readonly encoderLayers: number;
  readonly decoderLayers: number;
  /** A norm after the last block of each. Default true, as in nn.Transformer. */
  readonly finalNorm?: boolean | undefined;
}

export interface EncoderDecoderForwardOptions extends Omit<BlockForwardOptions, "memory"> {
  /** Of the encoder's attention. */
  readonly encoder?: InnerAttentionOptions | undefined;
}

export interface EncoderDecoderResult<O> extends StackResult<O> {
  /** What the decoder attended to. */
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
    const names = STACK_OPTIONS.filter((name) => name !== "layers" && name !== "cross");
    readSizes(where, options, [...names, "encoderLayers", "decoderLayers"]);
    const { encoderLayers, decoderLayers, finalNorm = true, ...block } = options;
    const stack = { ...block, finalNorm };
    super(where, options.engine);
    this.#dim = options.dim;
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
    const names = ["self", "cross", "attentions", "encoder"];
    return this.pass(options, names, async (scope, given, keep) => {
      const dim = this.#dim;
      const { attentions, encoder: self } = given;
      const from = await readInner(
        this.where,
        scope,
        source,
        { attentions, self },
        { name: "source", dim, hasCross: false },
      );
      const memory = await this.#encoder.compute(scope, from);
      const to = await readInner(
        this.where,
        scope,
        target,
        { ...given, memory: memory.output },
        { name: "target", dim, hasCross: true },
      );
      const made = await handOutStack(scope, await this.#decoder.compute(scope, to), to.attentions, keep);
      const encoded = await handOutStack(scope, memory, from.attentions, keep);
      return { ...made, memory: encoded.output, encoderAttentions: encoded.attentions };
    });
  }
}

/** @internal The results of a stack as arrays, or kept. */
export async function handOutStack(
  scope: Scope,
  { output, attentions }: StackMade,
  wantsAttentions: boolean,
  keep: boolean,
): Promise<StackResult<{ readonly keep: boolean }>> {
  const weights = [];
  for (const one of attentions) weights.push(await handOutAttentions(scope, one, keep));
  return { output: await handOut(scope, output, keep), attentions: wantsAttentions ? weights : undefined };
}
