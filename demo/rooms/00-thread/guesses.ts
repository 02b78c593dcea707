// The question of each stop that is answered by doing, and what its answer shows.

import type { Question } from "../../src/ui/guess.js";
import type { Stop, ThreadState } from "./state.js";

export const GUESSES: Readonly<Record<Stop, Question & { readonly shows: Partial<ThreadState> }>> = {
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
  scale: {
    ask: "1,024 numbers, not divided: what does softmax make of the scores?",
    answers: ["even weights", "one key takes all", "it cannot tell"],
    right: 1,
    why: "Scores spread over ±64, and e to such a difference leaves nothing to the others.",
    shows: { width: 1024 },
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
  mask: {
    ask: "“it” may not look ahead. Which noun does it lose?",
    answers: ["animal", "road", "none"],
    right: 2,
    why: "Both come before it. What it loses is the last word, which tells them apart.",
    shows: { sees: "before" },
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
