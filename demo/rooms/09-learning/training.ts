// Trains the model of a task, and hands over what it looks at on the way. The code is loaded when somebody trains.

import { type Moment as AnyMoment, type Run, withLoss } from "../../src/ui/training.js";
import { type Task, WORDS } from "./tasks.js";

/** The same seed gives the same numbers. */
const SEED = 1;
/** Steps between two moments, and how many are trained before the last of them. */
export const EVERY: Readonly<Record<Task, number>> = { copy: 1, reverse: 1, sort: 3 };
export const STEPS: Readonly<Record<Task, number>> = { copy: 120, reverse: 120, sort: 240 };

export interface Moment extends AnyMoment {
  readonly answer: string;
  /** Scores before the softmax, and weights, row by row. */
  readonly scores: Float32Array;
  readonly weights: Float32Array;
}

export async function learn({ heed, kind: task, signal }: Run<Task>, seen: (moment: Moment) => void): Promise<void> {
  const { train } = await import("../../../examples/train/one-look.js");
  const { model } = await train({
    task,
    word: WORDS[task],
    seed: SEED,
    steps: STEPS[task] + 1,
    every: EVERY[task],
    engine: heed,
    signal,
    ...withLoss<Omit<Moment, "loss">>(seen),
  });
  await model.dispose();
}
