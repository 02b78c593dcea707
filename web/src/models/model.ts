// Any model of heed, as its callers see it: what it gives depends on its kind.

import type { ForwardOptions, Layer, Returned } from "../layers/layer.js";
import type { TokenInput } from "../layers/models/tokens.js";
import type { LayerCaches } from "../layers/stack-caches.js";
import type { NoWatchOptions, WatchOptions } from "../layers/watch.js";

/** The options of a call of such a model; a family refuses those that it has no use for. */
export interface ModelForwardOptions extends ForwardOptions, WatchOptions {
  /** [B, S], 1 for tokens, 0 for padding. */
  readonly mask?: Uint8Array | readonly boolean[] | undefined;
  /** Of causal models: logits of the last token alone. */
  readonly last?: boolean | undefined;
  /** Of causal models: returns what the head reads. Default false. */
  readonly hidden?: boolean | undefined;
  /** Returns what the head makes of it. Default true of causal models, false of encoders. */
  readonly logits?: boolean | undefined;
  /** Of causal models: one for each layer, or for each layer one of each text. */
  readonly caches?: LayerCaches | undefined;
  /** Where packed texts begin and the last ends, of tokens [1, T]. */
  readonly cuSeqlens?: ArrayLike<number> | undefined;
  /** Of encoders: the segment of each token. */
  readonly tokenTypes?: TokenInput | undefined;
}

/** What such a model gives, as far as its family has it. */
export interface ModelResult<O> {
  /** [B, L, vocab_size], or those of labels, [B, labels] or [B, L, labels]. */
  readonly logits?: Returned<O> | undefined;
  /** [B, L, hidden_size], of causal models where it was asked for. */
  readonly hidden?: Returned<O> | undefined;
  /** Of encoders with a pooler, [B, hidden_size]. */
  readonly pooled?: Returned<O> | undefined;
  readonly mask: Uint8Array | undefined;
  readonly attentions: readonly Returned<O>[] | undefined;
  readonly hiddenStates: readonly Returned<O>[] | undefined;
  readonly scores: readonly Returned<O>[] | undefined;
}

/** A model of any family that `loadModel` knows. */
export interface Model extends Layer {
  forward<const O extends ModelForwardOptions = NoWatchOptions>(
    tokens: TokenInput,
    options?: O,
  ): Promise<ModelResult<O>>;
}
