// What the room shows of its state: the words as they stand, what the model reads of them and finds, and one head in double precision.

import type { Reading } from "../../src/language/inside.js";
import { HEAD_DIM, HEADS, idOf, LONGEST, MASK, WORDS } from "../../src/language/words.js";
import { at, fill, type Matrix, multiply, transpose, unstack } from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import type { Question, Readings } from "./readings.js";
import { barsOf, type Choosable } from "./sampling.js";
import { type LanguageState, wordsOf } from "./state.js";

export interface ShownWord {
  readonly text: string;
  /** -1: the model does not read it. */
  readonly id: number;
  /** "unseen": it comes after what a causal model may see. */
  readonly kind: "read" | "hidden" | "wrote" | "unseen" | "unknown";
  /** Its place in the sentence, -1 for what the model wrote. */
  readonly at: number;
}

/** One head's look from the word that is asked. */
export interface Look {
  readonly q: Matrix;
  readonly k: Matrix;
  readonly v: Matrix;
  readonly scores: Matrix;
  readonly weights: Matrix;
  readonly output: Matrix;
}

export interface LanguageScene {
  readonly state: LanguageState;
  readonly words: readonly ShownWord[];
  /** Of the words that the model reads: where they stand among all. */
  readonly columns: readonly number[];
  /** Which of these gives the prediction. */
  readonly asked: number;
  readonly unknown: readonly string[];
  /** What must be read before all of this can be shown. */
  readonly missing: readonly Question[];
  readonly reading: Reading | undefined;
  /** The likeliest first. */
  readonly bars: readonly Choosable[];
  /** With all heads, where some are off: probabilities by token. */
  readonly before: ReadonlyMap<number, number> | undefined;
  readonly look: Look | undefined;
}

export const SCALE = 1 / Math.sqrt(HEAD_DIM);
const BLANK = "___";

export function sceneOf(state: LanguageState, readings: Readings): LanguageScene {
  const words = shownWords(state);
  const columns = Array.from(words.keys())
    .filter((at) => (words[at]?.id ?? -1) >= 0)
    .slice(0, LONGEST);
  const isCausal = state.kind === "causal";
  const asked = isCausal ? columns.length - 1 : columns.findIndex((at) => words[at]?.kind === "hidden");
  const ids = columns.map((at) => words[at]?.id ?? 0);
  const { kind, off } = state;
  const questions: Question[] = asked < 0 ? [] : [{ kind, ids, asked, off }];
  if (off.length > 0 && asked >= 0) questions.push({ kind, ids, asked, off: [] });
  const [reading, whole] = questions.map((question) => readings.find(question));
  const bars = reading === undefined ? [] : barsOf(lastOf(reading), state);
  return {
    state,
    words,
    columns,
    asked,
    unknown: words.filter(({ kind }) => kind === "unknown").map(({ text }) => text),
    missing: questions.filter((question) => readings.find(question) === undefined),
    reading,
    bars,
    before: whole && new Map(barsOf(lastOf(whole), state).map(({ id, probability }) => [id, probability])),
    look: reading && lookOf(reading, state.head, asked, ids.length),
  };
}

export const lastOf = ({ lens }: Reading): ArrayLike<number> => lens.at(-1) ?? [];

function shownWords({ kind, text, at, wrote }: LanguageState): readonly ShownWord[] {
  const isCausal = kind === "causal";
  const all = wordsOf(text).map((word, place): ShownWord => {
    const id = idOf(word);
    if (id === MASK && !isCausal) return { text: BLANK, id, kind: "read", at: place };
    return id < 0 || id === MASK
      ? { text: word, id: -1, kind: "unknown", at: place }
      : { text: word, id, kind: "read", at: place };
  });
  const hidden: ShownWord = { text: BLANK, id: isCausal ? -1 : MASK, kind: "hidden", at };
  if (!isCausal) return all.map((word) => (word.at === at ? hidden : word));
  const before = all.slice(0, at);
  if (wrote.length === 0) {
    return [...before, hidden, ...all.slice(at + 1).map((word): ShownWord => ({ ...word, id: -1, kind: "unseen" }))];
  }
  const written = wrote.map((id): ShownWord => ({ text: WORDS[id] ?? "", id, kind: "wrote", at: -1 }));
  return [...before, ...written, { ...hidden, at: -1 }];
}

function lookOf({ layers }: Reading, head: number, asked: number, count: number): Look | undefined {
  const layer = layers[Math.floor(head / HEADS)];
  const [queries, keys, values] = [layer?.q, layer?.k, layer?.v].map((heads) => heads?.[head % HEADS] ?? []);
  if (queries === undefined || keys === undefined || values === undefined) return undefined;
  const [all, k, v] = [queries, keys, values].map((data) => unstack(count, HEAD_DIM, data));
  if (all === undefined || k === undefined || v === undefined) return undefined;
  const q = fill(1, HEAD_DIM, (_, col) => at(all, asked, col));
  const products = multiply(q, transpose(k));
  const scores = { ...products, data: products.data.map((value) => value * SCALE) };
  const weights = softmax(scores);
  return { q, k, v, scores, weights, output: multiply(weights, v) };
}
