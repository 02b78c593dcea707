// What losses are told of classes.

import type { Tensor } from "../../api/tensor.js";

/** Classes of rows, and what counts for how much. */
export interface ClassRule {
  readonly where: string;
  readonly targets: Int32Array;
  readonly ignored: number;
  readonly smoothing: number;
  readonly gamma: unknown;
  readonly weights: unknown;
}

export type ClassLoss = (logits: Tensor, rule: ClassRule) => Promise<Tensor>;
