// What the reader can choose in this room, and the words that the tasks are watched on.

import { codecFrom, initially, number, oneOf, type StateOf, step, text, wholes } from "../../src/model/fields.js";
import type { Store } from "../../src/model/store.js";

export const TASKS = ["copy", "reverse", "sort", "induction"] as const;
export type Task = (typeof TASKS)[number];

export const LETTERS = 8;
export const WORDS: Readonly<Record<Task, string>> = {
  copy: "keyboard",
  reverse: "stressed",
  sort: "sandwich",
  induction: "couscous",
};

/** The word that is watched: one's own, where it has as many letters. */
export const watched = ({ task, word }: Pick<LearningState, "task" | "word">): string =>
  isWord(word) ? word : WORDS[task];

export const isWord = (text: string): boolean => /^[a-z]+$/.test(text) && text.length === LETTERS;

/** Stands where nobody can know the answer. */
export const UNKNOWN = "·";

export function answerOf(task: Task, word: string): string {
  const letters = Array.from(word);
  if (task === "reverse") letters.reverse();
  if (task === "sort") letters.sort();
  if (task !== "induction") return letters.join("");
  const before = letters.map((letter, at) => word.slice(0, at).lastIndexOf(letter));
  return before.map((place) => (place < 0 ? UNKNOWN : word[place + 1])).join("");
}

/** The output whose look is guessed, from 0: the last knows most of a word that repeats itself. */
export const guessedRow = (task: Task): number => (task === "induction" ? LETTERS - 1 : 0);

/** Parts that a model can be trained without. */
export const PARTS = ["positions", "scaling", "heads", "mask"] as const;
export type Part = (typeof PARTS)[number];
/** How many of them a task's model has: a single look has one head, and a word that is there as a whole no mask. */
const PARTS_OF: Readonly<Record<Task, number>> = { copy: 2, reverse: 2, sort: 3, induction: 4 };
export const partsOf = (task: Task): readonly Part[] => PARTS.slice(0, PARTS_OF[task]);

export const RIVALS = ["nobody", "whole", ...PARTS] as const;
type Rival = (typeof RIVALS)[number];
export const RIVAL_NAMES: Readonly<Record<Rival, string>> = {
  nobody: "nobody",
  whole: "all parts",
  positions: "no positions",
  scaling: "no scaling",
  heads: "one head",
  mask: "no mask",
};

/** What a rival is trained without. */
export const withoutOf = (rival: Rival): readonly Part[] => PARTS.filter((part) => part === rival);

export const without = (state: LearningState): readonly Part[] => state.without.flatMap((part) => PARTS[part] ?? []);

export const nameOf = (parts: readonly Part[]): string =>
  parts.length === 0 ? RIVAL_NAMES.whole : parts.map((part) => RIVAL_NAMES[part]).join(", ");

/** Against a model of other parts that the task has. */
export function mayRace(state: LearningState, rival: Rival): boolean {
  const others = withoutOf(rival);
  const isThere = others.every((part) => partsOf(state.task).includes(part));
  return rival === "nobody" || (isThere && nameOf(others) !== nameOf(without(state)));
}

/** What scores are multiplied by, where gradients are shown. */
export const FACTORS: readonly number[] = [1, 2, 4, 8, 16, 32];

const FIELDS = {
  task: initially("reverse", oneOf("task", TASKS)),
  /** Among the parts. */
  without: initially([], wholes("without")),
  rival: initially("nobody", oneOf("against", RIVALS)),
  /** One's own; empty: the task's. */
  word: initially("", text("word", LETTERS)),
  /** The letter that an output is guessed to look at, counted from 1; 0 before there is a guess. */
  guess: initially(0, number("guess", 0, LETTERS)),
  /** How many steps what is shown was trained for; 0 before any training. */
  step: initially(0, number("step", 0, 9999)),
  factor: initially(16, step("times", FACTORS)),
};

export type LearningState = StateOf<typeof FIELDS>;
export type LearningStore = Store<LearningState>;

/** Without parts that the task’s model never had, and without a race against itself. */
function consistent(state: LearningState): LearningState {
  const own = { ...state, without: state.without.filter((part) => part < partsOf(state.task).length) };
  return mayRace(own, own.rival) ? own : { ...own, rival: "nobody" };
}

export const LEARNING_STATE = codecFrom<LearningState>(FIELDS, consistent);
