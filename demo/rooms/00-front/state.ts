// What a visitor of the front page has done: guessed, asked for the answer, turned the last word, chosen a head; or put a sentence of
// one's own in the question's place, changed a word of it, and brought the weights of another reader along.

import { codecFrom, initially, number, oneOf, type StateOf, text } from "../../src/model/fields.js";
import type { Store } from "../../src/model/store.js";
import { LONGEST_TEXT } from "../../src/model/tokens.js";
import type { Row } from "./reading.js";
import { ANIMAL, HEADS, LAYERS } from "./recorded.js";
import { sharedRow } from "./shared-row.js";

/** Heads that tell the story of the sentence; the first is shown first. */
export const STORIES = [
  { value: "4.2", layer: 4, head: 2, text: "layer 4, head 2: lets go of animal" },
  { value: "5.1", layer: 5, head: 1, text: "layer 5, head 1: turns to road" },
] as const;

const [FIRST = ""] = ANIMAL.endings;

const LONGEST_NAME = 60;
const sentence = text("t", LONGEST_TEXT);

/** Where a sentence of one's own begins: the tiny model knows its words. */
export const SENTENCE = "the dog didn't cross the road because it was wide . it was the";

/** Read here, and not as somebody sent it. */
export const HERE = { row: [], rowWas: [], by: "" } as const;

const FIELDS = {
  /** The word that was pressed, counted from 1; 0: none. */
  guess: initially(0, number("guess", 0, ANIMAL.words.length)),
  /** The answer was asked for without a guess. */
  shown: initially("", oneOf("shown", ["", "yes"])),
  ending: initially(FIRST, oneOf("word", ANIMAL.endings)),
  layer: initially(STORIES[0].layer, number("layer", 1, LAYERS)),
  head: initially(STORIES[0].head, number("head", 1, HEADS)),
  /** One's own sentence; null: the question, of which the address says nothing. */
  text: initially<string | null>(null, {
    key: "t",
    write: (text) => text ?? "\0",
    // As fields have it.
    read: (written) => sentence.read(written.replace(/\r\n?/g, "\n")),
  }),
  /** What it is compared with: the same before a word of it was changed. */
  was: initially("", text("was", LONGEST_TEXT)),
  /** The word that attends, counted from 1, and the head, as "2.1"; 0 and nothing: the page chooses. */
  asker: initially(0, number("it", 0, LONGEST_TEXT)),
  ownHead: initially("", text("own", 6)),
  /** The weights of that word in that head, and what they were, as whoever sent the address saw them; and of which model. */
  row: initially<Row>([], sharedRow("r")),
  rowWas: initially<Row>([], sharedRow("rw")),
  by: initially("", text("by", LONGEST_NAME)),
};

export type FrontState = StateOf<typeof FIELDS>;
export type FrontStore = Store<FrontState>;

export const FRONT_STATE = codecFrom<FrontState>(FIELDS);

export function isAnswered({ guess, shown, ending }: FrontState): boolean {
  return guess > 0 || shown === "yes" || ending !== FIRST;
}
