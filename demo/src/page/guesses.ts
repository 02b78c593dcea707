// The question of each room that is answered by doing. What the answer shows is the room's own.

import type { Question } from "../ui/guess.js";

export const GUESSES = {
  dictionary: {
    ask: "the temperature goes to 0. What comes back?",
    answers: ["the average of all", "the best drawer alone", "nothing"],
    right: 1,
    why: "The softmax becomes the look-up that one knows: one key takes all.",
  },
  "matrix-walk": {
    ask: "which word gets most of the attention of “it”?",
    answers: ["animal", "road", "tired"],
    right: 0,
    why: "By a hair: road is a thing as well. The last word decides only with a second layer.",
  },
  "score-lab": {
    ask: "k1 equals q, and k2 is three times as long. Which does the dot product prefer?",
    answers: ["k1", "k2", "both alike"],
    right: 1,
    why: "Length counts in a dot product. The cosine cannot tell the two apart, and a distance prefers k1.",
  },
  scale: {
    ask: "512 numbers, not divided: how many of the keys still count?",
    answers: ["all", "about half", "about one"],
    right: 2,
    why: "e to the entropy says it: the effective number of keys.",
  },
  masks: {
    ask: "one query may see no key at all. Its weights add up to",
    answers: ["1", "0", "NaN"],
    right: 1,
    why: "A softmax of nothing is 0/0; here it is defined as 0, so that nothing becomes NaN.",
  },
  heads: {
    ask: "eight heads instead of one: what do the matrices cost?",
    answers: ["eight times as much", "as much as before", "an eighth"],
    right: 1,
    why: "Each head has an eighth of the same columns. Only the weights are eight times as many.",
  },
  order: {
    ask: "Mary and Susan change places, without positions. What notices?",
    answers: ["the output of gave", "all outputs", "none of them"],
    right: 2,
    why: "Every output moves along with its word, and stays what it was.",
  },
  "what-else": {
    ask: "how many heads does attention need to be a convolution of 3 × 3?",
    answers: ["one", "three", "nine"],
    right: 2,
    why: "One for each place in the window: a head looks at its place with all of its weight.",
  },
  translation: {
    ask: "without attention, one state carries a date. Put eight words before it and after it: how many are right?",
    answers: ["nearly all", "about half", "hardly any"],
    right: 2,
    why: "Each word takes a part of the state. Both networks train now: compare the curves.",
  },
  language: {
    ask: "GPT sees only the left side of the blank. How many words are possible then?",
    answers: ["fewer", "as many", "more"],
    right: 2,
    why: "What follows the blank had ruled some of them out.",
  },
} as const satisfies Readonly<Record<string, Question>>;
