// What a call returns: types that follow from its options, and the making of them from what a backend computed.

import type { AttentionComputed, Backend, Computed, ScoreStage } from "../backends/backend.js";
import type { AttentionOptions, ReturnOptions } from "./options.js";
import { type ArrayTensor, Tensor } from "./tensor.js";
import type { CheckedAttention } from "./validate.js";

/** The options of a call that gives none. */
export type NoOptions = Record<never, never>;

/** The same for attention: nothing of what results' types follow from. The rest gives functions among the options the types of their arguments. */
export type NoAttentionOptions = Omit<AttentionOptions, "keep" | "return">;

type ByKeep<K> = K extends true ? Tensor : ArrayTensor;

/** A tensor with `keep: true`, else a plain array. */
export type Returned<O> = O extends { readonly keep: infer K }
  ? ByKeep<K>
  : "keep" extends keyof O
    ? Tensor | ArrayTensor
    : ArrayTensor;

type OnRequest<O, Name extends "weights" | "lse" | "entropy", Wanted = true> = O extends {
  readonly return: { readonly [N in Name]: Wanted };
}
  ? Returned<O>
  : Returned<O> | undefined;

/** Every value of `return.weights` that asks for some. */
type SomeWeights = Exclude<ReturnOptions["weights"], boolean | undefined> | true;

/** The results of `attention`: typed as present where the options ask for them literally. */
export interface AttentionResult<O = AttentionOptions> {
  /** The query's rank and layout. Absent with `return: { output: false }`. */
  readonly output: O extends { readonly return: { readonly output: false } } ? undefined : Returned<O>;
  /** [B, H, L, S]; [H, L, S] for rank 3; [L, S] for rank 2. Of rows, that many for L; their mean is without H. */
  readonly weights: OnRequest<O, "weights", SomeWeights>;
  /** [B, H, L]; [H, L] for rank 3; [L] for rank 2. */
  readonly lse: OnRequest<O, "lse">;
  /** [B, H, L, S], with the leading axes that the query has. */
  readonly scores: O extends { readonly return: { readonly scores: ScoreStage } }
    ? Returned<O>
    : Returned<O> | undefined;
  /** [B, H, L], likewise. */
  readonly entropy: OnRequest<O, "entropy">;
}

/** The same, before the options' types are known. */
export interface AnyAttentionResult {
  readonly output: Tensor | ArrayTensor | undefined;
  readonly weights: Tensor | ArrayTensor | undefined;
  readonly lse: Tensor | ArrayTensor | undefined;
  readonly scores: Tensor | ArrayTensor | undefined;
  readonly entropy: Tensor | ArrayTensor | undefined;
}

export function resultOf(
  backend: Backend,
  computed: AttentionComputed,
  shapes: CheckedAttention["shapes"],
  wantsOutput: boolean,
): AnyAttentionResult {
  const { output } = computed;
  const optional = (part: Computed | null, shape: readonly number[]): Tensor | ArrayTensor | undefined =>
    part === null ? undefined : returned(backend, part, shape);
  if (!wantsOutput && output.kind === "resident") backend.free(output.resident);
  return {
    output: wantsOutput ? returned(backend, output, shapes.output) : undefined,
    weights: optional(computed.weights, shapes.weights),
    lse: optional(computed.lse, shapes.perQuery),
    scores: optional(computed.scores, shapes.scores),
    entropy: optional(computed.entropy, shapes.perQuery),
  };
}

export function returned(backend: Backend, computed: Computed, shape: readonly number[]): Tensor | ArrayTensor {
  if (computed.kind === "resident") return new Tensor(backend, computed.resident, shape);
  return { data: computed.array, shape, dtype: "f32" };
}
