// What a call of attention returns: its type, which follows from the options, and the tensors made of what a backend computed.

import type { Computed, Computer, ScoreStage } from "../backends/backend.js";
import type { AttentionResults } from "../operations/attention.js";
import type { AttentionOptions, ReturnOptions } from "./options.js";
import { type ArrayTensor, Tensor } from "./tensor.js";
import type { CheckedAttention } from "./validate.js";

/** The options of a call that gives none. */
export type NoOptions = Record<never, never>;

/** The same for attention, without the options that decide the type of the result. The other options are there for the types of mods' arguments. */
export type NoAttentionOptions = Omit<AttentionOptions, "keep" | "return">;

type ByKeep<K> = K extends true ? Tensor : ArrayTensor;

/** A tensor with `keep: true` or in a pass that is differentiated, else a plain array. */
export type Returned<O> = O extends { readonly pass: object }
  ? Tensor
  : O extends { readonly keep: infer K }
    ? ByKeep<K>
    : "keep" extends keyof O
      ? Tensor | ArrayTensor
      : ArrayTensor;

type OnRequest<O, Name extends "weights" | "lse" | "entropy", Wanted = true> = O extends {
  readonly return: { readonly [N in Name]: Wanted };
}
  ? Returned<O>
  : Returned<O> | undefined;

/** The values of `return.weights` that ask for weights. */
type SomeWeights = Exclude<ReturnOptions["weights"], boolean | undefined> | true;

/** The results of `attention`. A result that the options ask for literally has a type without undefined. */
export interface AttentionResult<O = AttentionOptions> {
  /** It has the query's rank and layout, and is absent with `return: { output: false }`. */
  readonly output: O extends { readonly return: { readonly output: false } } ? undefined : Returned<O>;
  /** [B, H, L, S]; [H, L, S] for rank 3; [L, S] for rank 2. With `rows`, L is their number; the mean has no H. */
  readonly weights: OnRequest<O, "weights", SomeWeights>;
  /** [B, H, L]; [H, L] for rank 3; [L] for rank 2. */
  readonly lse: OnRequest<O, "lse">;
  /** [B, H, L, S], with the leading axes that the query has. */
  readonly scores: O extends { readonly return: { readonly scores: ScoreStage } }
    ? Returned<O>
    : Returned<O> | undefined;
  /** [B, H, L]; [H, L] for rank 3; [L] for rank 2. */
  readonly entropy: OnRequest<O, "entropy">;
}

/** The results where the types of the options are not known. */
export interface AnyAttentionResult {
  readonly output: Tensor | ArrayTensor | undefined;
  readonly weights: Tensor | ArrayTensor | undefined;
  readonly lse: Tensor | ArrayTensor | undefined;
  readonly scores: Tensor | ArrayTensor | undefined;
  readonly entropy: Tensor | ArrayTensor | undefined;
}

export function resultOf(
  backend: Computer,
  computed: AttentionResults<Computed>,
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

export function returned(backend: Computer, computed: Computed, shape: readonly number[]): Tensor | ArrayTensor {
  if (computed.kind === "resident") return new Tensor(backend, computed.resident, shape);
  return { data: computed.array, shape, dtype: "f32" };
}
