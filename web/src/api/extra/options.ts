// The options of rope and linear attention: public types and names. What the values must be is checked in read-*.ts, which are
// loaded with what computes them.

import type { LinearRule } from "../../backends/extra-backend.js";
import type { Layout, Numbers, TensorInput } from "../options.js";
import type { Returned } from "../results.js";

/** How angles are slowed down for more positions than a model was trained on. A number: every position divided by it. */
export type RopeScaling =
  | number
  | { readonly type: "linear"; readonly factor: number }
  /** A larger base, so that the slowest angle is divided by the factor and the fastest stays. */
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
      /** Multiplies what is turned. Default 0.1 ln(factor) + 1. */
      readonly attentionFactor?: number | undefined;
      /** From a whole pair to a whole pair. Default true. */
      readonly truncate?: boolean | undefined;
    };

export interface RopeOptions {
  /** Pair i turns by position * base ** (-2 i / rotaryDim). Default 10000. */
  readonly base?: number | undefined;
  /** true: pairs are numbers 2i and 2i + 1 (GPT-J); false: i and i + rotaryDim / 2 (GPT-NeoX, Llama as published). Default false. */
  readonly interleaved?: boolean | undefined;
  /** The first numbers of head_dim that are turned, an even number; the others are copied. Default all; beside cos, twice its columns. */
  readonly rotaryDim?: number | undefined;
  /** That of the first place, or one a place, [L], or a batch entry and place, [B * L]. Default 0. */
  readonly positions?: number | Numbers | undefined;
  readonly scaling?: RopeScaling | undefined;
  /** Turns back. Default false. */
  readonly inverse?: boolean | undefined;
  /** In place of base: [rows, rotaryDim / 2], looked up by position, or [B, L, rotaryDim / 2]. */
  readonly cos?: TensorInput | undefined;
  readonly sin?: TensorInput | undefined;
  /** Default "bhnd". */
  readonly layout?: Layout | undefined;
  /** Needed by `layout: "packed"`. */
  readonly heads?: number | undefined;
  /** Leave the result in the engine, as a tensor. Default false. */
  readonly keep?: boolean | undefined;
  /** As of `attention`. */
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

export interface LinearOptions {
  /** What a token makes of the state: see docs/semantics.md. */
  readonly rule: LinearRule;
  /** For the gated rules, which need it: logarithms, one a key head and token or one a dimension too; shaped as the key. */
  readonly decay?: TensorInput | undefined;
  /** For the delta rules: one a key head (or for all) and token; shaped as the key, its last axis 1 or left out. Default 1. */
  readonly beta?: TensorInput | undefined;
  /** What an earlier call returned. [B, G, D, E], for elu [B, G, D, E + 1]. Default zeros. */
  readonly state?: TensorInput | undefined;
  /** Multiplies the output. Default 1 / sqrt(head_dim); not for elu. */
  readonly scale?: number | undefined;
  /** false, for elu alone: every query sees all keys, of which there may be more or less. Default false for elu, else true. */
  readonly causal?: boolean | undefined;
  /** Default "bhnd". */
  readonly layout?: Layout | undefined;
  /** Query heads; needed by `layout: "packed"`, else checked against the shape. */
  readonly heads?: number | undefined;
  /** Key and value heads; default `heads`. */
  readonly kvHeads?: number | undefined;
  /** Leave the results in the engine, as tensors. Default false. */
  readonly keep?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LinearResult<O = LinearOptions> {
  /** The query's rank and layout. */
  readonly output: Returned<O>;
  /** [B, G, D, E], for elu [B, G, D, E + 1], with the leading axes that the query has. */
  readonly state: Returned<O>;
}

export interface RelativeKeysOptions {
  /** Keys. Default as many as queries. */
  readonly length?: number | undefined;
  /** The position of query 0 among the keys. Default length - queries. */
  readonly offset?: number | undefined;
  /** That of the attention that the bias is for. Default 1 / sqrt(head_dim). */
  readonly scale?: number | undefined;
  /** Of the queries. Default "bhnd". */
  readonly layout?: Layout | undefined;
  /** Needed by `layout: "packed"`. */
  readonly heads?: number | undefined;
  readonly keep?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RelativeValuesOptions {
  /** The position of query 0 among the keys. Default keys - queries. */
  readonly offset?: number | undefined;
  readonly keep?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}
