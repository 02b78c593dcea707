// W_Q, W_K and W_V as they stand before anybody edits them. Each column of W_Q and W_K is one question and what answers it.

import { fill, identity, type Matrix } from "./matrix.js";
import { FEATURES, type Feature } from "./vocabulary.js";

interface Question {
  /** Name of the column, as short as a column is wide. */
  readonly name: string;
  /** Which properties make a word ask, and how strongly. */
  readonly asks: Readonly<Partial<Record<Feature, number>>>;
  /** Which properties make a word answer. */
  readonly answers: Readonly<Partial<Record<Feature, number>>>;
}

/**
 * The order matters twice: a narrower X keeps the first ones, and h heads cut the list into h equal parts. At width 8 the first
 * head of two looks for living things and the second for places, which is what splits "it" between the animal and the road.
 */
export const QUESTIONS: readonly Question[] = [
  { name: "who", asks: { points: 4 }, answers: { alive: 1.5, thing: 0.5 } },
  { name: "doer", asks: { acts: 2.5 }, answers: { alive: 1.2, thing: 0.6 } },
  { name: "feels", asks: { body: 1.5, tells: 1 }, answers: { body: 1.5 } },
  { name: "how", asks: { thing: 1.5 }, answers: { tells: 1.2 } },
  { name: "what", asks: { points: 4 }, answers: { place: 1.2, thing: 0.8, alive: -0.6 } },
  { name: "where", asks: { acts: 2.5 }, answers: { place: 1.2, thing: 0.3 } },
  { name: "extent", asks: { place: 2 }, answers: { place: 1.4 } },
  { name: "which", asks: { glue: 1.2 }, answers: { thing: 1.2 } },
  { name: "why", asks: { joins: 2 }, answers: { acts: 1.2, tells: 0.8 } },
  { name: "mover", asks: { moves: 1.5 }, answers: { alive: 1.2 } },
  { name: "gift", asks: { gives: 2 }, answers: { thing: 1, alive: -1 } },
  { name: "she/he", asks: { "she/he": 2 }, answers: { "she/he": 1.5 } },
  { name: "eats", asks: { food: 1.5 }, answers: { food: 1.5 } },
  { name: "mood", asks: { good: 1.5 }, answers: { good: 1.5 } },
  { name: "denied", asks: { not: 2 }, answers: { acts: 1.2 } },
  { name: "all", asks: { many: 1.5 }, answers: { many: 1.5 } },
];

export interface Projections {
  readonly q: Matrix;
  readonly k: Matrix;
  readonly v: Matrix;
}

export function givenProjections(width: number): Projections {
  return {
    q: fill(width, width, (row, col) => QUESTIONS[col]?.asks[FEATURES[row] ?? "thing"] ?? 0),
    k: fill(width, width, (row, col) => QUESTIONS[col]?.answers[FEATURES[row] ?? "thing"] ?? 0),
    v: identity(width),
  };
}
