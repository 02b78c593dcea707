// Words to vectors for this room: six hand-set properties, and two numbers made from the letters, so that names differ.

import { fill, type Matrix } from "../../src/model/matrix.js";
import { meaningOf } from "../../src/model/vocabulary.js";

export const PROPERTIES = ["thing", "alive", "acts", "gives", "tells", "glue"] as const;
export const FEATURES = [...PROPERTIES, "spelt 1", "spelt 2"] as const;
export const WIDTH = FEATURES.length;

type Feature = (typeof FEATURES)[number];

interface Question {
  readonly name: string;
  readonly asks: Readonly<Partial<Record<Feature, number>>>;
  readonly answers: Readonly<Partial<Record<Feature, number>>>;
}

/** In pairs, as rotary positions turn them. */
export const QUESTIONS: readonly Question[] = [
  { name: "who", asks: { acts: 2 }, answers: { alive: 1.5 } },
  { name: "what", asks: { acts: 1.5, gives: 0.5 }, answers: { thing: 1, alive: -0.5 } },
  { name: "does", asks: { alive: 1.2, thing: 0.4 }, answers: { acts: 1.5 } },
  { name: "to whom", asks: { gives: 1, glue: 1.5 }, answers: { alive: 1.2 } },
  { name: "how", asks: { thing: 1 }, answers: { tells: 1.5 } },
  { name: "joins", asks: { acts: 0.5 }, answers: { glue: 1 } },
  { name: "like 1", asks: { "spelt 1": 1 }, answers: { "spelt 1": 1 } },
  { name: "like 2", asks: { "spelt 2": 1 }, answers: { "spelt 2": 1 } },
];

export function vectorsOf(words: readonly string[]): Matrix {
  return fill(words.length, WIDTH, (row, col) => componentOf(words[row] ?? "", col));
}

function componentOf(word: string, col: number): number {
  const property = PROPERTIES[col];
  if (property === undefined) return fromLetters(word, col - PROPERTIES.length + 1);
  return meaningOf(word)?.[property] ?? 0;
}

/** The mean of sin(wave * code) over the letters. */
function fromLetters(word: string, wave: number): number {
  const letters = Array.from(word.toLowerCase(), (letter) => letter.codePointAt(0) ?? 0);
  const sum = letters.reduce((total, code) => total + Math.sin(wave * code), 0);
  return Math.round((100 * sum) / Math.max(1, letters.length)) / 100;
}

const weightsOf = (role: "asks" | "answers"): Matrix =>
  fill(WIDTH, QUESTIONS.length, (row, col) => QUESTIONS[col]?.[role][FEATURES[row] ?? "thing"] ?? 0);

export const ASKS = weightsOf("asks");
export const ANSWERS = weightsOf("answers");
