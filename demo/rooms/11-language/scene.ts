// What the room shows of its state: the words as they stand, what the model reads of them and finds, and one head in double precision.

import type { LayerReading, Reading } from "../../src/language/inside.js";
import { candidates, HEAD_DIM, HEADS, idOf, LONGEST, MASK, moreWords, WORDS } from "../../src/language/words.js";
import { at, fill, type Matrix, multiply, transpose, unstack } from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import type { Question, Readings } from "./readings.js";
import { type LanguageState, wordsOf } from "./state.js";

export interface ShownWord {
  readonly text: string;
  /** -1: the model does not read it. */
  readonly id: number;
  /** "unseen": it comes after what a causal model may see; "beyond": it stands for those that do not fit. */
  readonly kind: "read" | "hidden" | "wrote" | "unseen" | "unknown" | "beyond";
  /** Its place in the sentence, -1 for what cannot be hidden. */
  readonly at: number;
}

export const SCALE = 1 / Math.sqrt(HEAD_DIM);
const BLANK = "___";

export type LanguageScene = ReturnType<typeof sceneOf>;

export function sceneOf(state: LanguageState, readings: Readings) {
  const { kind, off } = state;
  // What the model wrote stands for all that followed.
  const leftOut = state.wrote.length > 0 ? 0 : wordsOf(state.text).leftOut;
  const more = moreWords(leftOut).map((text): ShownWord => ({ text, id: -1, kind: "beyond", at: -1 }));
  const words = [...shownWords(state), ...more];
  /** Of the words that the model reads: where they stand among all. */
  const columns = Array.from(words.keys()).filter((at) => (words[at]?.id ?? -1) >= 0);
  /** Which of these gives the prediction. */
  const asked = kind === "causal" ? columns.length - 1 : columns.findIndex((at) => words[at]?.kind === "hidden");
  const ids = columns.map((at) => words[at]?.id ?? 0);
  const questions: Question[] = asked < 0 ? [] : [{ kind, ids, asked, off }];
  if (off.length > 0 && asked >= 0) questions.push({ kind, ids, asked, off: [] });
  const [reading, whole] = questions.map((question) => readings.find(question));
  return {
    ...{ state, words, columns, asked, reading, leftOut },
    /** A causal model has no room for a word more. */
    isFull: kind === "causal" && state.at + state.wrote.length >= LONGEST,
    unknown: words.filter(({ kind }) => kind === "unknown").map(({ text }) => text),
    /** What must be read before all of this can be shown. */
    missing: questions.filter((question) => readings.find(question) === undefined),
    /** The likeliest first. */
    bars: reading === undefined ? [] : barsOf(lastOf(reading), state),
    /** With all heads, where some are off: probabilities by token. */
    before: whole && new Map(barsOf(lastOf(whole), state).map(({ id, probability }) => [id, probability] as const)),
    look: reading && lookOf(reading, state.head, asked, ids.length),
  };
}

export const lastOf = ({ lens }: Reading): ArrayLike<number> => lens.at(-1) ?? [];

/** All words, the likeliest first. Kept, to be drawn, are the best k, and of these the fewest whose probabilities add up to p. */
function barsOf(logits: ArrayLike<number>, { temperature, topK, topP }: LanguageState) {
  const all = candidates(logits, temperature);
  const best = topK === 0 ? all.length : topK;
  const total = all.slice(0, best).reduce((sum, { probability }) => sum + probability, 0);
  let reached = 0;
  return all.map((one, place) => {
    const isKept = place < best && (reached < topP || topP === 1);
    reached += one.probability / total;
    return { ...one, isKept };
  });
}

function shownWords({ kind, text, at, wrote }: LanguageState): readonly ShownWord[] {
  const isCausal = kind === "causal";
  const all = wordsOf(text).words.map((word, place): ShownWord => {
    const id = idOf(word);
    if (id < 0 || (id === MASK && isCausal)) return { text: word, id: -1, kind: "unknown", at: place };
    return { text: id === MASK ? BLANK : word, id, kind: "read", at: place };
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

/** One head's look from the word that is asked. */
function lookOf({ layers }: Reading, head: number, asked: number, count: number) {
  const layer = layers[Math.floor(head / HEADS)];
  if (layer === undefined) return undefined;
  const rows = (heads: LayerReading["q"]): Matrix => unstack(count, HEAD_DIM, heads[head % HEADS] ?? []);
  const [all, k, v] = [rows(layer.q), rows(layer.k), rows(layer.v)];
  const q = fill(1, HEAD_DIM, (_, col) => at(all, asked, col));
  const products = multiply(q, transpose(k));
  const scores = { ...products, data: products.data.map((value) => value * SCALE) };
  const weights = softmax(scores);
  return { q, k, v, scores, weights, output: multiply(weights, v) };
}
