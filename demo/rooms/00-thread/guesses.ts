// The question of each stop that is answered by doing, and what its answer shows. Two are drawn.

import type { Question } from "../../src/ui/guess.js";
import type { Sketched, Stop, ThreadState } from "./state.js";

type Shows = Readonly<{ shows: Partial<ThreadState> }>;

export const SKETCHES: Readonly<Record<Sketched, Pick<Question, "ask" | "why"> & Shows>> = {
  scale: {
    ask: "how will the scores spread once they are divided by √d?",
    why: "Their spread is 1 then, at every width: no key takes all because vectors are long.",
    shows: { divided: "yes" },
  },
  mask: {
    ask: "which weights will animal have, below, when it may not look ahead?",
    why: "Of the two words that are left, its own fits better. They share what the hidden words had.",
    shows: { sees: "before" },
  },
};

export const GUESSES: Readonly<Record<Exclude<Stop, Sketched>, Question & Shows>> = {
  "look-up": {
    ask: "you look up animal. How many values come back?",
    answers: ["all", "one", "two"],
    right: 1,
    why: "Only the drawer whose key is equal opens.",
    shows: { lookedUp: "animal" },
  },
  soft: {
    ask: "with sharpness 0, what does animal get?",
    answers: ["nothing", "as much as every other", "all"],
    right: 1,
    why: "A query that asks for nothing fits every key alike.",
    shows: { sharpness: 0 },
  },
  roles: {
    ask: "what does animal look for?",
    answers: ["a verb", "an adjective", "nothing"],
    right: 1,
    why: "Its query asks for an adjective, and for what lives.",
    shows: { asker: "animal" },
  },
  scores: {
    ask: "which key fits the query of the last word best?",
    answers: ["too", "the other noun", "the noun it can describe"],
    right: 2,
    why: "Both of its wishes are met there: a noun, and the same property.",
    shows: { asker: "tired" },
  },
  softmax: {
    ask: "the score of animal goes up by 2. What happens to the weight of road?",
    answers: ["it stays", "it falls", "it rises"],
    right: 1,
    why: "Its e to the power stays, but the whole that all share has grown.",
    shows: { raise: 2 },
  },
  mix: {
    ask: "“it” fits animal and road alike. What is its output?",
    answers: ["the value of one", "some of both", "nothing"],
    right: 1,
    why: "Both values are poured in, as much as their weights say.",
    shows: { asker: "it" },
  },
  heads: {
    ask: "a head of its own for adjectives: how much does it give the last word?",
    answers: ["a third", "a half", "three quarters"],
    right: 2,
    why: "It need not share its attention with the nouns any more.",
    shows: { heads: "2" },
  },
  layers: {
    ask: "the road was too wide. Whom does layer 2 find?",
    answers: ["animal", "road", "both"],
    right: 1,
    why: "Layer 1 told “it” about a size, and road has one.",
    shows: { ending: "wide" },
  },
};
