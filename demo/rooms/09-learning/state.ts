// What the reader can choose in this room.

import { codecOf, number, oneOf } from "../../src/model/fields.js";
import { Store } from "../../src/model/store.js";
import { LETTERS, TASKS, type Task } from "./tasks.js";

/** What scores are multiplied by, where gradients are shown. */
export const FACTORS: readonly number[] = [1, 2, 4, 8, 16, 32];

export interface LearningState {
  readonly task: Task;
  /** The letter that the first output is guessed to look at, counted from 1; 0 before there is a guess. */
  readonly guess: number;
  /** How many steps what is shown was trained for; 0 before any training. */
  readonly step: number;
  readonly factor: number;
}

export type LearningStore = Store<LearningState>;

export function openLearningStore(): LearningStore {
  return new Store(LEARNING_STATE);
}

const LEARNING_STATE = codecOf<LearningState>(
  { task: "reverse", guess: 0, step: 0, factor: 16 },
  {
    task: oneOf("task", TASKS),
    guess: number("guess", 0, LETTERS),
    step: number("step", 0, 9999),
    factor: number("times", 1, 32),
  },
  (state) => ({ ...state, factor: FACTORS.filter((factor) => factor <= state.factor).at(-1) ?? 1 }),
);
