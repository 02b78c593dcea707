// The public types of attentionVjp and linearAttentionVjp.

import type { AttentionOptions, TensorInput } from "../options.js";
import type { Returned } from "../results.js";
import type { LinearOptions } from "./options.js";

/** Those of `attention`; a call of its own has no cache, no array for its output and no results beside it. */
export interface AttentionVjpOptions extends Omit<AttentionOptions, "cache" | "out" | "return"> {
  /** The results of a forward call at hand, which then need not be computed again. The lse is that of a softmax. */
  readonly saved?: { readonly output: TensorInput; readonly lse?: TensorInput | undefined } | undefined;
}

/** The options of a backward pass. */
export interface BackwardOptions {
  /** The gradient of the loss in the weights that `attention` returns, all of them, in their shape. Default zeros. */
  readonly weightsGradient?: TensorInput | undefined;
  /** Leaves the gradients in the engine. Default false. */
  readonly keep?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Each has the shape in which that was given of which it is the gradient. What was not given has none. */
export interface AttentionGradients<O> {
  readonly dq: Returned<O>;
  readonly dk: Returned<O>;
  readonly dv: Returned<O>;
  /** Summed over what the bias broadcasts to. */
  readonly dbias: Returned<O> | undefined;
  readonly dsinks: Returned<O> | undefined;
  readonly dtemperature: number | undefined;
  /** The parameters of the score function; of a number, a number. */
  readonly dscore:
    | { readonly [Name in "w" | "wq" | "wk" | "b" | "v" | "bandwidth"]?: Returned<O> | number }
    | undefined;
  /** One for each table of scoreMod, maskMod and probMod, in the order in which they read them; zeros for those of conditions and indices. */
  readonly dtables: readonly Returned<O>[] | undefined;
}

/** What `attentionVjp` gives: the output, and the way back from its gradient. */
export interface AttentionVjp<O> {
  readonly output: Returned<O>;
  /** Of a softmax. */
  readonly lse: Returned<O> | undefined;
  /**
   * The gradients of a loss whose gradient in the output is given, in its shape. It can be called once, and not after `release`. Until then
   * arrays that were given must not change; tensors may be disposed of.
   */
  backward<const B extends BackwardOptions = Record<never, never>>(
    outputGradient: TensorInput,
    options?: B,
  ): Promise<AttentionGradients<B>>;
  /** Frees what the backward call would need. */
  release(): void;
}

/** Those of `linearAttention`, of the call whose gradients are wanted, and the gradients of a loss in its results. */
export interface LinearVjpOptions extends LinearOptions {
  /** In the output, in its shape. */
  readonly outputGradient: TensorInput;
  /** In the state that the call returns, in its shape. Default zeros. */
  readonly finalStateGradient?: TensorInput | undefined;
}

/** Each has the shape in which that was given of which it is the gradient. What was not given has none. */
export interface LinearGradients<O = LinearVjpOptions> {
  readonly query: Returned<O>;
  readonly key: Returned<O>;
  readonly value: Returned<O>;
  readonly decay: Returned<O> | undefined;
  readonly beta: Returned<O> | undefined;
  /** Of the option `state`. */
  readonly initialState: Returned<O> | undefined;
}
