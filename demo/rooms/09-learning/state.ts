// What the reader can choose in this room, and the words that the three tasks are watched on.

import { codecFrom, initially, number, oneOf, type StateOf, step, text } from "../../src/model/fields.js";
import type { Store } from "../../src/model/store.js";

export const TASKS = ["copy", "reverse", "sort"] as const;
export type Task = (typeof TASKS)[number];

export const LETTERS = 8;
export const WORDS: Readonly<Record<Task, string>> = { copy: "keyboard", reverse: "stressed", sort: "sandwich" };

/** The word that is watched: one's own, where it has as many letters. */
export const watched = ({ task, word }: Pick<LearningState, "task" | "word">): string =>
  isWord(word) ? word : WORDS[task];

export const isWord = (text: string): boolean => /^[a-z]+$/.test(text) && text.length === LETTERS;

export function answerOf(task: Task, word: string): string {
  const letters = Array.from(word);
  if (task === "reverse") letters.reverse();
  if (task === "sort") letters.sort();
  return letters.join("");
}

/** What scores are multiplied by, where gradients are shown. */
export const FACTORS: readonly number[] = [1, 2, 4, 8, 16, 32];

const FIELDS = {
  task: initially("reverse", oneOf("task", TASKS)),
  /** One's own; empty: the task's. */
  word: initially("", text("word", LETTERS)),
  /** The letter that the first output is guessed to look at, counted from 1; 0 before there is a guess. */
  guess: initially(0, number("guess", 0, LETTERS)),
  /** How many steps what is shown was trained for; 0 before any training. */
  step: initially(0, number("step", 0, 9999)),
  factor: initially(16, step("times", FACTORS)),
};

export type LearningState = StateOf<typeof FIELDS>;
export type LearningStore = Store<LearningState>;

export const LEARNING_STATE = codecFrom<LearningState>(FIELDS);
