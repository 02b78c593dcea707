// The options of rope, linear attention and relative positions: public types and names. The values are checked by code that is loaded with
// these operations.

import type { LinearRule } from "../../operations/linear-attention.js";
import type { Layout, Numbers, TensorInput } from "../options.js";
import type { Returned } from "../results.js";

/** How angles are slowed down for more positions than a model was trained on. A number divides every position. */
export type RopeScaling =
  | number
  | { readonly type: "linear"; readonly factor: number }
  /** Makes the base larger, so that the slowest angle is divided by the factor and the fastest stays. */
  | { readonly type: "ntk"; readonly factor: number }
  | {
      readonly type: "llama3";
      readonly factor: number;
      readonly originalLength: number;
      /** Default 1. */
      readonly lowFrequencyFactor?: number | undefined;
      /** Default 4. */
      readonly highFrequencyFactor?: number | undefined;
    }
  | {
      readonly type: "yarn";
      readonly factor: number;
      readonly originalLength: number;
      /** Default 32. */
      readonly betaFast?: number | undefined;
      /** Default 1. */
      readonly betaSlow?: number | undefined;
      /** Multiplies the rotated numbers. Default 0.1 ln(factor) + 1. */
      readonly attentionFactor?: number | undefined;
      /** Whether the bounds of the transition are rounded to whole pairs. Default true. */
      readonly truncate?: boolean | undefined;
    };

/** The options of `rope`, the rotary position embedding. */
export interface RopeOptions {
  /** Pair i is rotated by position * base ** (-2 i / rotaryDim). Default 10000. */
  readonly base?: number | undefined;
  /** true: pairs are numbers 2i and 2i + 1 (GPT-J); false: i and i + rotaryDim / 2 (GPT-NeoX, Llama as published). Default false. */
  readonly interleaved?: boolean | undefined;
  /** How many numbers of head_dim are rotated, an even number; the others are copied. Default all; with cos, twice its columns. */
  readonly rotaryDim?: number | undefined;
  /** The position of the first token, or one for each token, [L], or for each batch entry and token, [B * L]. Default 0. */
  readonly positions?: number | Numbers | undefined;
  readonly scaling?: RopeScaling | undefined;
  /** Rotates back. Default false. */
  readonly inverse?: boolean | undefined;
  /** Replaces base: [rows, rotaryDim / 2], looked up by position, or [B, L, rotaryDim / 2]. */
  readonly cos?: TensorInput | undefined;
  readonly sin?: TensorInput | undefined;
  /** Default "bhnd". */
  readonly layout?: Layout | undefined;
  /** Needed by `layout: "packed"`. */
  readonly heads?: number | undefined;
  /** Leaves the result in the engine, as a tensor. Default false. */
  readonly keep?: boolean | undefined;
  /** As in `attention`. */
  readonly retry?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const ROPE_OPTIONS = [
  "base",
  "interleaved",
  "rotaryDim",
  "positions",
  "scaling",
  "inverse",
  "cos",
  "sin",
  "layout",
  "heads",
  "keep",
  "retry",
  "signal",
] as const;

/** The options of `linearAttention`. */
export interface LinearOptions {
  /** How a token changes the state: see docs/semantics/caches-and-positions.md. */
  readonly rule: LinearRule;
  /** For the gated rules, which need it: logarithms, one for each value head and token, or also for each dimension. Shaped as the key with the value's heads. */
  readonly decay?: TensorInput | undefined;
  /** For the delta rules: one for each token and value head, or for all heads. Shaped as the key with these heads, with a last axis of 1 or none. Default 1. */
  readonly beta?: TensorInput | undefined;
  /** The state that an earlier call returned: [B, G, D, E], for elu [B, G, D, E + 1]. Default zeros. */
  readonly state?: TensorInput | undefined;
  /** Multiplies the output. Default 1 / sqrt(head_dim); not for elu. */
  readonly scale?: number | undefined;
  /** false, for elu only: every query sees all keys, and their number may differ. Default false for elu, else true. */
  readonly causal?: boolean | undefined;
  /** Default "bhnd". */
  readonly layout?: Layout | undefined;
  /** The number of query heads: needed by `layout: "packed"`, otherwise checked against the shape. */
  readonly heads?: number | undefined;
  /** The number of value heads, of which each has a state. Default `heads`. */
  readonly kvHeads?: number | undefined;
  /** Leaves the results in the engine, as tensors. Default false. */
  readonly keep?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What `linearAttention` gives: the output, and the state after the last token. */
export interface LinearResult<O = LinearOptions> {
  /** It has the query's rank and layout, and as many heads as the query or the value, whichever has more. */
  readonly output: Returned<O>;
  /** [B, G, D, E], for elu [B, G, D, E + 1], with the leading axes that the query has. */
  readonly state: Returned<O>;
}

/** The options of `relativeKeys`. */
export interface RelativeKeysOptions {
  /** The number of keys. Default as many as queries. */
  readonly length?: number | undefined;
  /** The position of query 0 among the keys. Default length - queries. */
  readonly offset?: number | undefined;
  /** The scale of the attention that takes the bias. Default 1 / sqrt(head_dim). */
  readonly scale?: number | undefined;
  /** The layout of the queries. Default "bhnd". */
  readonly layout?: Layout | undefined;
  /** Needed by `layout: "packed"`. */
  readonly heads?: number | undefined;
  readonly keep?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The options of `relativeValues`. */
export interface RelativeValuesOptions {
  /** The position of query 0 among the keys. Default keys - queries. */
  readonly offset?: number | undefined;
  readonly keep?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}
