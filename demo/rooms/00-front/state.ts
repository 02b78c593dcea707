// What a visitor of the front page has done: guessed, asked for the answer, turned the last word, chosen a head.

import { codecFrom, initially, number, oneOf, type StateOf, text } from "../../src/model/fields.js";
import type { Store } from "../../src/model/store.js";
import { LONGEST_TEXT } from "../../src/model/tokens.js";
import { ANIMAL, HEADS, LAYERS } from "./recorded.js";

/** Heads that tell the story of the sentence; the first is shown first. */
export const STORIES = [
  { value: "4.2", layer: 4, head: 2, text: "layer 4, head 2: lets go of animal" },
  { value: "5.1", layer: 5, head: 1, text: "layer 5, head 1: turns to road" },
] as const;

const [FIRST = ""] = ANIMAL.endings;
const SENTENCE = "the dog didn't cross the road because it was wide . it was the";

const FIELDS = {
  /** The word that was pressed, counted from 1; 0: none. */
  guess: initially(0, number("guess", 0, ANIMAL.words.length)),
  /** The answer was asked for without a guess. */
  shown: initially("", oneOf("shown", ["", "yes"])),
  ending: initially(FIRST, oneOf("word", ANIMAL.endings)),
  layer: initially(STORIES[0].layer, number("layer", 1, LAYERS)),
  head: initially(STORIES[0].head, number("head", 1, HEADS)),
  /** One's own sentence, and the head that reads it, as "2.1". */
  text: initially(SENTENCE, text("t", LONGEST_TEXT)),
  ownHead: initially("2.2", text("own", 3)),
};

export type FrontState = StateOf<typeof FIELDS>;
export type FrontStore = Store<FrontState>;

export const FRONT_STATE = codecFrom<FrontState>(FIELDS);

/** An address with a sentence of one's own, or with a head that reads it. */
export const bringsSentence = ({ text, ownHead }: FrontState): boolean =>
  text !== FRONT_STATE.initial.text || ownHead !== FRONT_STATE.initial.ownHead;

export function isAnswered({ guess, shown, ending }: FrontState): boolean {
  return guess > 0 || shown === "yes" || ending !== FIRST;
}
