// W_Q, W_K and W_V as they stand before anybody edits them. Each column of W_Q and W_K is one question and what answers it.

import { fill, identity, type Matrix } from "./matrix.js";
import { FEATURES, type Feature } from "./vocabulary.js";

type Amounts = Readonly<Partial<Record<Feature, number>>>;

/**
 * By the name of its column, as short as a column is wide: which properties make a word ask, how strongly, and which make it answer.
 * The order matters twice: a narrower X keeps the first ones, and h heads cut the list into h equal parts. At width 8 the first
 * head of two looks for living things and the second for places, which is what splits "it" between the animal and the road.
 */
const QUESTIONS: Readonly<Record<string, Readonly<Record<"asks" | "answers", Amounts>>>> = {
  who: { asks: { points: 4 }, answers: { alive: 1.5, thing: 0.5 } },
  doer: { asks: { acts: 2.5 }, answers: { alive: 1.2, thing: 0.6 } },
  feels: { asks: { body: 1.5, tells: 1 }, answers: { body: 1.5 } },
  how: { asks: { thing: 1.5 }, answers: { tells: 1.2 } },
  what: { asks: { points: 4 }, answers: { place: 1.2, thing: 0.8, alive: -0.6 } },
  where: { asks: { acts: 2.5 }, answers: { place: 1.2, thing: 0.3 } },
  extent: { asks: { place: 2 }, answers: { place: 1.4 } },
  which: { asks: { glue: 1.2 }, answers: { thing: 1.2 } },
  why: { asks: { joins: 2 }, answers: { acts: 1.2, tells: 0.8 } },
  mover: { asks: { moves: 1.5 }, answers: { alive: 1.2 } },
  gift: { asks: { gives: 2 }, answers: { thing: 1, alive: -1 } },
  "she/he": { asks: { "she/he": 2 }, answers: { "she/he": 1.5 } },
  eats: { asks: { food: 1.5 }, answers: { food: 1.5 } },
  mood: { asks: { good: 1.5 }, answers: { good: 1.5 } },
  denied: { asks: { not: 2 }, answers: { acts: 1.2 } },
  all: { asks: { many: 1.5 }, answers: { many: 1.5 } },
};

export const QUESTION_NAMES = Object.keys(QUESTIONS);

export function givenProjections(width: number) {
  const questions = Object.values(QUESTIONS);
  const amounts = (of: "asks" | "answers"): Matrix =>
    fill(width, width, (row, col) => questions[col]?.[of][FEATURES[row] ?? "thing"] ?? 0);
  return { q: amounts("asks"), k: amounts("answers"), v: identity(width) };
}
