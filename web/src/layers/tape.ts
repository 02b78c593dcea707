// What a pass records for its backward pass: the steps that its scopes took, in their order.

import type { ModTrees } from "../api/operations/remembering.js";
import type { Tensor } from "../api/tensor.js";
import type { AttentionProblem, Resident } from "../backends/backend.js";
import type { Activation } from "../operations/pointwise.js";
import type { RopeProblem } from "../operations/rope.js";
import type { Parameter } from "./parameters.js";

/** Tensors that a step reads, and those that it made. */
export type Step =
  | {
      readonly kind: "affine";
      readonly x: Tensor;
      readonly weight: Parameter;
      readonly bias: Parameter | null;
      readonly addend: Tensor | null;
      readonly made: readonly [Tensor];
    }
  | {
      readonly kind: "pointwise";
      readonly x: Tensor;
      readonly activation: Activation;
      readonly factor: Tensor | null;
      readonly addend: Tensor | null;
      readonly made: readonly [Tensor];
    }
  | {
      readonly kind: "norm";
      readonly x: Tensor;
      readonly isCentred: boolean;
      readonly epsilon: number;
      readonly width: number;
      readonly weight: Parameter | null;
      readonly bias: Parameter | null;
      readonly made: readonly [Tensor];
    }
  | {
      readonly kind: "gather";
      readonly table: Tensor | Parameter;
      readonly indices: Int32Array<ArrayBuffer>;
      readonly made: readonly [Tensor];
    }
  | {
      readonly kind: "gru";
      readonly gates: Tensor;
      readonly weights: Parameter;
      readonly bias: Parameter | null;
      readonly state: Tensor | null;
      readonly batch: number;
      readonly isReversed: boolean;
      readonly made: readonly [Tensor, Tensor];
    }
  | { readonly kind: "rope"; readonly x: Tensor; readonly problem: RopeProblem; readonly made: readonly [Tensor] }
  | {
      readonly kind: "attention";
      readonly query: Tensor;
      readonly key: Tensor;
      readonly value: Tensor;
      /** With its tensors in their places. */
      readonly problem: AttentionProblem;
      /** What its scoreMod and probMod returned. */
      readonly trees: ModTrees;
      /** Of a softmax. */
      readonly lse: Resident | null;
      readonly made: readonly [Tensor];
    }
  | { readonly kind: "parameter"; readonly parameter: Parameter; readonly made: readonly [Tensor] }
  | {
      /** A block of layers, of which only the results were kept. */
      readonly kind: "block";
      /** Computes it again, and frees it after `use` of its results. Its steps are recorded on `tape`. */
      readonly again: (tape: Tape, use: (made: readonly Tensor[]) => Promise<void>) => Promise<void>;
      readonly made: readonly Tensor[];
    }
  | {
      readonly kind: "loss";
      readonly x: Tensor;
      /** Of the loss, in x. */
      readonly gradient: Resident;
      readonly made: readonly [Tensor];
    };

export interface Tape {
  /** A parameter in the memory of the pass, in the layout that kernels read. */
  use(parameter: Parameter, where: string): Promise<Resident>;
  record(step: Step): void;
  /** A tape for a block that is to be computed again in the backward pass; null where it is to be kept. */
  fork(): Tape | null;
  /** Whether a gradient goes through this tensor. */
  needs(x: Tensor): boolean;
  /** No gradient goes through this tensor, which depends on what learns. */
  cut(x: Tensor): void;
}
