// What a visitor of the front page has done: guessed, asked for the answer, turned the last word, chosen a head.

import { codecOf, number, oneOf, text } from "../../src/model/fields.js";
import { Store } from "../../src/model/store.js";
import { ANIMAL, HEADS, type Head, LAYERS } from "./recorded.js";

export interface FrontState extends Head {
  /** The word that was pressed, counted from 1; 0: none. */
  readonly guess: number;
  /** The answer was asked for without a guess. */
  readonly shown: "" | "yes";
  readonly ending: string;
  /** One's own sentence, and the head that reads it, as "2.1". */
  readonly text: string;
  readonly ownHead: string;
}

export type FrontStore = Store<FrontState>;

/** Heads that tell the story of the sentence; the first is shown first. */
export const STORIES = [
  { value: "4.2", layer: 4, head: 2, text: "layer 4, head 2: lets go of animal" },
  { value: "5.1", layer: 5, head: 1, text: "layer 5, head 1: turns to road" },
] as const;

const LONGEST_TEXT = 400;

const INITIAL: FrontState = {
  guess: 0,
  shown: "",
  ending: ANIMAL.endings[0] ?? "",
  layer: STORIES[0].layer,
  head: STORIES[0].head,
  text: "the dog didn't cross the road because it was wide . it was the",
  ownHead: "2.2",
};

export function openFrontStore(): FrontStore {
  return new Store(
    codecOf(INITIAL, {
      guess: number("guess", 0, ANIMAL.words.length),
      shown: oneOf("shown", ["", "yes"]),
      ending: oneOf("word", ANIMAL.endings),
      layer: number("layer", 1, LAYERS),
      head: number("head", 1, HEADS),
      text: text("t", LONGEST_TEXT),
      ownHead: text("own", 3),
    }),
  );
}

export function isAnswered({ guess, shown, ending }: FrontState): boolean {
  return guess > 0 || shown === "yes" || ending !== INITIAL.ending;
}
