// The base class of causal models: a decoder, logits of the next token, and a KV cache for each layer.

import type { HeldCache } from "../../api/cache-types.js";
import type { Heed } from "../../api/heed.js";
import type { Returned } from "../../api/results.js";
import type { Tensor } from "../../api/tensor.js";
import { HeedError } from "../../base/errors.js";
import { readBoolean } from "../../base/read-values.js";
import { GATHER } from "../../operations/gather.js";
import { chosenHeads } from "../chosen-heads.js";
import type { Indices } from "../embedding.js";
import { handOut } from "../hand-out.js";
import { type ForwardOptions, Layer } from "../layer.js";
import { Linear } from "../linear.js";
import { Packing } from "../packing.js";
import type { Filling, GivenParameters } from "../read-parameters.js";
import type { Scope } from "../scope.js";
import { type LayerCaches, readCaches } from "../stack-caches.js";
import { handOutScores, handOutStates, type StackMade } from "../stacks.js";
import { noteMask } from "../token-mask.js";
import { type NoWatchOptions, WATCH_OPTIONS, type WatchOptions, wantsAttentions } from "../watch.js";
import type { Labels } from "./labels.js";
import type { PublishedNames } from "./names.js";
import { packedPositions, positionsOf, type TokenPositions } from "./positions.js";
import { PublishedParameters } from "./published.js";
import { readTokens, type TokenInput } from "./tokens.js";

/** The options of a call of a causal language model. */
export interface CausalForwardOptions extends ForwardOptions, WatchOptions {
  /** Returns the output of the decoder, to which the head would be applied. Default false. */
  readonly hidden?: boolean | undefined;
  /** Returns logits. Default true. */
  readonly logits?: boolean | undefined;
  /** [B, S], 1 for tokens, 0 for padding, for the tokens in the caches and those of this call. Default all 1. */
  readonly mask?: Uint8Array | readonly boolean[] | undefined;
  /** Returns logits for the last token only, or the last one in the mask: [B, 1, vocab_size]. Default false. */
  readonly last?: boolean | undefined;
  /**
   * KV caches of the engine, one for each layer, or for each layer a list with one of each text, which may hold unequally many tokens. The
   * tokens come after those in the caches.
   */
  readonly caches?: LayerCaches | undefined;
  /** Where packed texts begin and the last ends, [0, ..., T], of tokens [1, T] without padding. There are then hidden states alone. */
  readonly cuSeqlens?: ArrayLike<number> | undefined;
}

/** What a causal language model gives. */
export interface CausalResult<O> {
  /** [B, L, vocab_size]. Those of padding mean nothing. A classifier of texts has [B, labels], one of tokens [B, L, labels]. */
  readonly logits: O extends { readonly logits: false } ? undefined : Returned<O>;
  /** [B, L, hidden_size], where it was asked for. */
  readonly hidden: Returned<O> | undefined;
  /** [B, L], 1 for tokens, 0 for padding. Undefined where there was no mask, and no padding. */
  readonly mask: Uint8Array | undefined;
  /** [B, H, L, S] of every layer, or of those that were asked for. */
  readonly attentions: readonly Returned<O>[] | undefined;
  /** Where they were asked for: what goes into each layer, and what the head reads, [B, L, dim] each. */
  readonly hiddenStates: readonly Returned<O>[] | undefined;
  /** Likewise, of the layers, heads and rows of `attentions`. */
  readonly scores: readonly Returned<O>[] | undefined;
}

/** The inputs of a model's decoder. */
export interface CausalInputs extends Omit<TokenPositions, "last" | "counts"> {
  readonly tokens: Indices;
  readonly caches: readonly HeldCache[] | null;
  readonly attentions: boolean;
  readonly packing: Packing | null;
}

/** The head of a causal model. */
export interface CausalHead {
  /** null: it is one for words. */
  readonly labels: Labels | null;
  /** Whether it has the matrix of the words. */
  readonly isTied: boolean;
}

export abstract class CausalModel extends Layer {
  protected abstract readonly layers: number;
  readonly #published: PublishedNames;
  readonly #labels: Labels | null;
  readonly #isTied: boolean;

  constructor(where: string, engine: Heed | undefined, published: PublishedNames, { labels, isTied }: CausalHead) {
    super(where, engine);
    this.#published = published;
    this.#labels = labels;
    this.#isTied = isTied && labels === null;
  }

  /** A matrix from the decoder's output to the logits of words or of labels. */
  protected headOf(dim: number, words: number, engine: Heed | undefined): Linear {
    const outFeatures = this.#labels?.count ?? words;
    return this.part("head", new Linear({ inFeatures: dim, outFeatures, bias: this.#labels?.of === "tokens", engine }));
  }

  /** Ties the head's matrix to that of the words where they are one. */
  protected tieHead(): void {
    if (this.#isTied) this.tie("head.weight", "words.weight");
  }

  /** By its own names or the published ones, where a head that is missing has the matrix of the words. */
  protected override fill(parameters: GivenParameters, prefix: string): Filling {
    const filling = parameters.has(`${prefix}words.weight`)
      ? super.fill(parameters, prefix)
      : super.fill(this.#renamed(parameters, prefix), "");
    return this.#isTied ? this.tying(filling, "head.weight", "words.weight") : filling;
  }

  protected override ties(): readonly (readonly [string, string])[] {
    return this.#isTied ? [["head.weight", "words.weight"]] : [];
  }

  #renamed(parameters: GivenParameters, prefix: string): GivenParameters {
    const names = this.#published;
    const made = new PublishedParameters(this.where, parameters, prefix, this.names(), names);
    made.takeAll(names, this.layers);
    const own = `${prefix}${this.#labels === null ? "lm_head" : "score"}`;
    const hasOwn = this.#labels !== null || made.has(`${own}.weight`);
    made.take("head", hasOwn ? own : made.start + names.parts.words);
    return made.all();
  }

  /** Token ids of one text, or a list of those of several, which are padded where they end. */
  forward<const O extends CausalForwardOptions = NoWatchOptions>(
    tokens: TokenInput,
    options?: O,
  ): Promise<CausalResult<O>>;
  forward(tokens: unknown, options?: unknown): Promise<CausalResult<{ readonly keep: boolean }>> {
    return this.pass(
      options,
      [...WATCH_OPTIONS, "hidden", "logits", "last", "caches", "mask", "cuSeqlens"],
      async (scope, given, keep) => {
        const flag = (name: string, absent: boolean): boolean => readBoolean(this.where, name, given[name], absent);
        const wanted = wantsAttentions(this.where, given["attentions"]);
        const wantsHidden = flag("hidden", false);
        const [wantsLogits, isLast] = [flag("logits", true), flag("last", false)];
        const caches = readCaches(scope, this.where, given["caches"], this.layers);
        const read = readTokens(this.where, "tokens", tokens);
        const [rows = 0, tokensOfAll = 0] = read.indices.shape;
        const packing = Packing.read(this.where, given["cuSeqlens"], [rows, tokensOfAll]);
        if (packing !== null) checkPacked(this.where, given, wantsLogits);
        const { last, counts, ...positions } =
          packing === null ? positionsOf(this.where, read, given["mask"], caches) : packedPositions(packing);
        const { output, attentions } = await this.decode(scope, {
          ...positions,
          tokens: read.indices,
          caches,
          attentions: wanted,
          packing,
        });
        const logits = wantsLogits ? await this.#logits(scope, output, isLast ? last : null, last) : undefined;
        const hiddenStates = await handOutStates(scope, keep);
        const scores = await handOutScores(scope, keep);
        const made = [];
        for (const { self } of attentions ?? []) made.push(await handOut(scope, await chosenHeads(scope, self), keep));
        const hidden = wantsHidden ? await handOut(scope, output, keep) : undefined;
        const [batch = 0, length = 0] = read.indices.shape;
        if (hidden !== undefined && counts !== null) noteMask(hidden, { data: counts, shape: [batch, 1, 1, length] });
        return {
          // Of the type that calls without `logits: false` have.
          logits: (logits && (await handOut(scope, logits, keep))) as CausalResult<{
            readonly keep: boolean;
          }>["logits"],
          hidden,
          mask: counts ?? undefined,
          attentions: attentions && made,
          hiddenStates,
          scores,
        };
      },
    );
  }

  async #logits(
    scope: Scope,
    hidden: Tensor,
    only: readonly number[] | null,
    last: readonly number[],
  ): Promise<Tensor> {
    const [batch = 0, , dim = 0] = hidden.shape;
    if (this.#labels?.of === "texts") return this.logitsOf(scope, await tokensOf(scope, hidden, last, [batch, dim]));
    return this.logitsOf(scope, only === null ? hidden : await tokensOf(scope, hidden, only, [batch, 1, dim]));
  }

  /** Frees its parameters, in JavaScript as well, once the passes under way have ended. To use the model again, load it anew. */
  override dispose(): void {
    this.unload();
  }

  protected abstract decode(scope: Scope, inputs: CausalInputs): Promise<StackMade>;

  protected abstract logitsOf(scope: Scope, hidden: Tensor): Promise<Tensor>;
}

/** Packed texts are for their hidden states. */
function checkPacked(
  where: string,
  { mask, hooks, caches }: Readonly<Record<string, unknown>>,
  wantsLogits: boolean,
): void {
  if (mask === undefined && hooks === undefined && caches === undefined && !wantsLogits) return;
  throw new HeedError("option", `${where}: cuSeqlens excludes mask, hooks, caches and logits`);
}

/** One token of each batch entry. */
async function tokensOf(
  scope: Scope,
  x: Tensor,
  positions: readonly number[],
  shape: readonly number[],
): Promise<Tensor> {
  const [, length = 0] = x.shape;
  const indices = Int32Array.from(positions, (position, entry) => entry * length + position);
  return scope.make(GATHER, { table: scope.rows(x), indices }, shape);
}
