// Any model of heed, as its callers see it: what it gives depends on its kind.

import type { KVCache } from "../api/cache-types.js";
import type { ForwardOptions, Layer, Returned } from "../layers/layer.js";
import type { TokenInput } from "../layers/models/tokens.js";
import type { NoWatchOptions, WatchOptions } from "../layers/watch.js";

export interface ModelForwardOptions extends ForwardOptions, WatchOptions {
  /** [B, S], 1 for tokens, 0 for padding. */
  readonly mask?: Uint8Array | readonly boolean[] | undefined;
  /** Of causal models: logits of the last token alone. */
  readonly last?: boolean | undefined;
  /** Of causal models: one for each layer. */
  readonly caches?: readonly KVCache[] | undefined;
  /** Of encoders: the segment of each token. */
  readonly tokenTypes?: TokenInput | undefined;
}

export interface ModelResult<O> {
  /** Of causal models, [B, L, vocab_size]. */
  readonly logits?: Returned<O> | undefined;
  /** Of encoders, [B, L, hidden_size]. */
  readonly hidden?: Returned<O> | undefined;
  /** Of encoders with a pooler, [B, hidden_size]. */
  readonly pooled?: Returned<O> | undefined;
  readonly mask: Uint8Array | undefined;
  readonly attentions: readonly Returned<O>[] | undefined;
  readonly hiddenStates: readonly Returned<O>[] | undefined;
}

export interface Model extends Layer {
  forward<const O extends ModelForwardOptions = NoWatchOptions>(
    tokens: TokenInput,
    options?: O,
  ): Promise<ModelResult<O>>;
}
