// Words to vectors for this room: six hand-set properties, and two hashes of the letters, so that names differ.

import { fill, type Matrix } from "../../src/model/matrix.js";
import { meaningOf } from "../../src/model/vocabulary.js";

export const PROPERTIES = ["thing", "alive", "acts", "gives", "tells", "glue"] as const;
export const FEATURES = [...PROPERTIES, "hash 1", "hash 2"] as const;
export const WIDTH = FEATURES.length;

type Parts = Readonly<Partial<Record<(typeof FEATURES)[number], number>>>;

/** What a query asks for and a key answers, in pairs, as rotary positions turn them. */
const QUESTIONS: readonly (readonly [name: string, asks: Parts, answers: Parts])[] = [
  ["who", { acts: 2 }, { alive: 1.5 }],
  ["what", { acts: 1.5, gives: 0.5 }, { thing: 1, alive: -0.5 }],
  ["does", { alive: 1.2, thing: 0.4 }, { acts: 1.5 }],
  ["to whom", { gives: 1, glue: 1.5 }, { alive: 1.2 }],
  ["how", { thing: 1 }, { tells: 1.5 }],
  ["joins", { acts: 0.5 }, { glue: 1 }],
  ["like 1", { "hash 1": 1 }, { "hash 1": 1 }],
  ["like 2", { "hash 2": 1 }, { "hash 2": 1 }],
];
export const QUESTION_NAMES = QUESTIONS.map(([name]) => name);

const weightsOf = (role: 1 | 2): Matrix =>
  fill(WIDTH, QUESTIONS.length, (row, col) => QUESTIONS[col]?.[role][FEATURES[row] ?? "thing"] ?? 0);
export const ASKS = weightsOf(1);
export const ANSWERS = weightsOf(2);

export function vectorsOf(words: readonly string[]): Matrix {
  return fill(words.length, WIDTH, (row, col) => componentOf(words[row] ?? "", col));
}

function componentOf(word: string, col: number): number {
  const property = PROPERTIES[col];
  return property === undefined ? hashOf(word, col - PROPERTIES.length + 1) : (meaningOf(word)?.[property] ?? 0);
}

/** The mean of sin(wave * code) over the letters. */
function hashOf(word: string, wave: number): number {
  const letters = Array.from(word.toLowerCase(), (letter) => letter.codePointAt(0) ?? 0);
  const sum = letters.reduce((total, code) => total + Math.sin(wave * code), 0);
  return Math.round((100 * sum) / Math.max(1, letters.length)) / 100;
}
