// The base class of causal models: a decoder, logits of the next token, and a KV cache for each layer.

import type { HeldCache, KVCache } from "../../api/cache-types.js";
import type { Heed } from "../../api/heed.js";
import type { Returned } from "../../api/results.js";
import type { Tensor } from "../../api/tensor.js";
import { readBoolean } from "../../base/read-values.js";
import { GATHER } from "../../operations/gather.js";
import type { Indices } from "../embedding.js";
import { type ForwardOptions, Layer } from "../layer.js";
import type { Filling, GivenParameters } from "../parameters.js";
import type { Scope } from "../scope.js";
import { readCaches } from "../stack-caches.js";
import { handOutStack, handOutStates, type StackMade } from "../stacks.js";
import { type NoWatchOptions, WATCH_OPTIONS, type WatchOptions, wantsAttentions } from "../watch.js";
import type { PublishedNames } from "./names.js";
import { positionsOf, type TokenPositions } from "./positions.js";
import { PublishedParameters } from "./published.js";
import { readTokens, type TokenInput } from "./tokens.js";

export interface CausalForwardOptions extends ForwardOptions, WatchOptions {
  /** [B, S], 1 for tokens, 0 for padding, for the tokens in the caches and those of this call. Default all 1. */
  readonly mask?: Uint8Array | readonly boolean[] | undefined;
  /** Returns logits for the last token only, or the last one in the mask: [B, 1, vocab_size]. Default false. */
  readonly last?: boolean | undefined;
  /** KV caches of the engine, one for each layer. The tokens come after those in the caches. */
  readonly caches?: readonly KVCache[] | undefined;
}

export interface CausalResult<O> {
  /** [B, L, vocab_size]. Those of padding mean nothing. */
  readonly logits: Returned<O>;
  /** [B, L], 1 for tokens, 0 for padding. Undefined where there was no mask, and no padding. */
  readonly mask: Uint8Array | undefined;
  /** [B, H, L, S] of every layer, or of those that were asked for. */
  readonly attentions: readonly Returned<O>[] | undefined;
  /** Where they were asked for: what goes into each layer, and what the head reads, [B, L, dim] each. */
  readonly hiddenStates: readonly Returned<O>[] | undefined;
}

/** The inputs of a model's decoder. */
export interface CausalInputs extends Omit<TokenPositions, "last" | "counts"> {
  readonly tokens: Indices;
  readonly caches: readonly HeldCache[] | null;
  readonly attentions: boolean;
}

export abstract class CausalModel extends Layer {
  protected abstract readonly layers: number;
  readonly #published: PublishedNames;
  /** Whether the head has the matrix of the words. */
  readonly #isTied: boolean;

  constructor(where: string, engine: Heed | undefined, published: PublishedNames, isTied: boolean) {
    super(where, engine);
    this.#published = published;
    this.#isTied = isTied;
  }

  /** By its own names or the published ones, where a head that is missing has the matrix of the words. */
  protected override fill(parameters: GivenParameters, prefix: string): Filling {
    const filling = parameters.has(`${prefix}words.weight`)
      ? super.fill(parameters, prefix)
      : super.fill(this.#renamed(parameters, prefix), "");
    return this.#isTied ? this.tying(filling, "head.weight", "words.weight") : filling;
  }

  #renamed(parameters: GivenParameters, prefix: string): GivenParameters {
    const names = this.#published;
    const made = new PublishedParameters(this.where, parameters, prefix, this.names(), names);
    made.takeAll(names, this.layers);
    const own = `${prefix}lm_head`;
    made.take("head", made.has(`${own}.weight`) ? own : made.start + names.parts.words);
    return made.all();
  }

  /** Token ids of one text, or a list of those of several, which are padded where they end. */
  forward<const O extends CausalForwardOptions = NoWatchOptions>(
    tokens: TokenInput,
    options?: O,
  ): Promise<CausalResult<O>>;
  forward(tokens: unknown, options?: unknown): Promise<CausalResult<{ readonly keep: boolean }>> {
    return this.pass(options, [...WATCH_OPTIONS, "last", "caches", "mask"], async (scope, given, keep) => {
      const wanted = wantsAttentions(this.where, given["attentions"]);
      const isLast = readBoolean(this.where, "last", given["last"], false);
      const caches = readCaches(scope, this.where, given["caches"], this.layers);
      const read = readTokens(this.where, "tokens", tokens);
      const { last, counts, ...positions } = positionsOf(this.where, read, given["mask"], caches);
      const { output, attentions } = await this.decode(scope, {
        ...positions,
        tokens: read.indices,
        caches,
        attentions: wanted,
      });
      const hidden = isLast ? await tokensOf(scope, output, last) : output;
      const logits = await this.logitsOf(scope, hidden);
      const hiddenStates = await handOutStates(scope, keep);
      const handed = await handOutStack(scope, { output: logits, attentions }, keep);
      const weights = handed.attentions?.map(({ self }) => self);
      return { logits: handed.output, mask: counts ?? undefined, attentions: weights, hiddenStates };
    });
  }

  /** Frees its parameters, in JavaScript as well, once the passes under way have ended. To use the model again, load it anew. */
  override dispose(): void {
    this.unload();
  }

  protected abstract decode(scope: Scope, inputs: CausalInputs): Promise<StackMade>;

  protected abstract logitsOf(scope: Scope, hidden: Tensor): Promise<Tensor>;
}

/** One token of each batch entry, [B, 1, E]. */
async function tokensOf(scope: Scope, x: Tensor, positions: readonly number[]): Promise<Tensor> {
  const [batch = 0, length = 0, dim = 0] = x.shape;
  const indices = Int32Array.from(positions, (position, entry) => entry * length + position);
  return scope.make(GATHER, { table: scope.rows(x), indices }, [batch, 1, dim]);
}
