// What is known of a model while it learns.

import type { Moment as AnyMoment } from "../../src/ui/training.js";
import type { Task } from "./state.js";

/** Steps between two moments, and how many are trained before the last of them. */
export const EVERY: Readonly<Record<Task, number>> = { copy: 1, reverse: 1, sort: 3, induction: 3 };
export const STEPS: Readonly<Record<Task, number>> = { copy: 120, reverse: 120, sort: 240, induction: 240 };

export interface Moment extends AnyMoment {
  readonly answer: string;
  /** Scores before the softmax, and weights, row by row. */
  readonly scores: Float32Array;
  readonly weights: Float32Array;
  /** The model that learns beside it, after as many steps. */
  readonly rival?: Readonly<{ name: string; answer: string; loss: number }>;
}
