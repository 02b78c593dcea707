// The rule of an attention within a pass: its problem, but for the places of the tensors, which the pass has still to make.

import type { HeldCache } from "../api/cache-types.js";
import type { ModTrees } from "../api/operations/record-functions.js";
import type { CheckedAttention } from "../api/validate.js";
import type { AttentionProblem } from "../backends/backend.js";

export interface AttentionRule extends CheckedAttention {
  /** Whether the output is a result. */
  readonly output: boolean;
  /** What scoreMod, maskMod and probMod returned, for the backward pass. */
  readonly trees: ModTrees;
  readonly cache: HeldCache | null;
}

/** The problem of a step that is recorded. */
export interface RecordedAttention extends AttentionProblem {
  readonly trees: ModTrees;
}
