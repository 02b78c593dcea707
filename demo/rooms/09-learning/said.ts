// What is said of the training: the word with what becomes of it, who looks where, and what a model lacks.

import { h } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import {
  answerOf,
  guessedRow,
  LETTERS,
  type LearningState,
  type Part,
  type Task,
  UNKNOWN,
  watched,
  without,
} from "./state.js";
import type { Moment } from "./training.js";

/** The word, and what a model makes of it: letters that are wrong are pale, and what nobody can know is a dot. */
export function wordOf(state: LearningState, answer: string | undefined, name: string): (Node | string)[] {
  const read = watched(state);
  const wanted = answerOf(state.task, read);
  const letters = Array.from(answer ?? "?".repeat(LETTERS), (letter, place) =>
    wanted[place] === UNKNOWN
      ? h("span", { class: "wrong" }, UNKNOWN)
      : h("span", { class: letter === wanted[place] ? "right" : "wrong" }, letter),
  );
  return [read, h("span", { class: "arrow" }, " → "), h("output", { "aria-label": name }, ...letters)];
}

export const questionOf = (task: Task): string =>
  `Your guess: which letter will the ${guessedRow(task) === 0 ? "first" : "last"} output look at?`;

export function textOf(state: LearningState, moment: Moment | undefined): string {
  const { task, guess } = state;
  const word = watched(state);
  if (answerOf(task, word) === UNKNOWN.repeat(LETTERS))
    return `No letter of “${word}” comes twice, so nobody can know what comes next. Try another word.`;
  if (moment === undefined) {
    const rows =
      task === "induction"
        ? "The word repeats itself. Each output names the letter that comes next, as GPT does: it must find where its own letter stood before, and look one further."
        : "A row for each letter of the answer, a column for each letter of the word. Before training, every output looks everywhere equally.";
    return rows;
  }
  const [part] = without(state);
  const lack = part && LACKS[part][task];
  if (lack !== undefined) return lack;
  const row = guessedRow(task);
  const weights = Array.from(moment.weights.subarray(row * LETTERS, (row + 1) * LETTERS));
  const most = Math.max(...weights);
  const place = weights.indexOf(most);
  const looks = `The ${row === 0 ? "first" : "last"} output looks at letter ${place + 1}, “${word[place]}”, with ${percent(most)} of its weight.`;
  if (guess === 0) return looks;
  return guess === place + 1
    ? `${looks} Just as you guessed.`
    : `${looks} You guessed letter ${guess}, “${word[guess - 1]}”.`;
}

const NOWHERE = "Without positions a key says which letter it is, and not where. No training can find an order then.";
const ONE_LOOK =
  "One look can do without: its scores are small at first, and training makes them as large as it needs.";
const SATURATED =
  "Scores are not divided by √d. The layers before the look saturate early, hardly any gradient passes, and the model stays behind.";

/** What a part is for, by what happens without it. */
const LACKS: Readonly<Record<Part, Readonly<Partial<Record<Task, string>>>>> = {
  positions: {
    copy: NOWHERE,
    reverse: NOWHERE,
    sort: "Sorting needs no positions: it asks which letters there are, and not where they stood.",
    induction: "Without positions nobody can tell which letter came just before, and so what followed it.",
  },
  scaling: { copy: ONE_LOOK, reverse: ONE_LOOK, sort: SATURATED, induction: SATURATED },
  heads: {
    sort: "The layers that compare letters have one head instead of four: they get there, and later.",
    induction: "One head is enough: the layer before has a single thing to do, to bring each letter the one before it.",
  },
  mask: {
    induction:
      "Nothing hides what comes next, so each output looks at it: the answer itself. In use it is not there yet. The last output is in that place: it has to guess.",
  },
};
