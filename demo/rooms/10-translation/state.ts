// What the reader can choose in this room.

import { codecFrom, initially, number, oneOf, type StateOf, text } from "../../src/model/fields.js";
import type { Store } from "../../src/model/store.js";
import { ANSWER, NETWORKS, RECORDED } from "./reading.js";
import { STEPS } from "./training.js";

export const LONGEST = 72;
/** So many branches a beam search keeps at most. */
export const WIDEST = 5;

const FIELDS = {
  text: initially(RECORDED.text, text("t", LONGEST)),
  network: initially("bahdanau", oneOf("network", NETWORKS)),
  /** How many characters of the answer are written. */
  written: initially(ANSWER, number("written", 0, ANSWER)),
  /** How many branches a beam search keeps; 0 before anybody chose. */
  beam: initially(0, number("beam", 0, WIDEST)),
  /** The characters that it begins with, as the reader chose them. */
  begun: initially("", text("begun", ANSWER)),
  /** How many steps what is shown was trained for; 0 before any training. */
  step: initially(0, number("step", 0, STEPS)),
};

export type TranslationState = StateOf<typeof FIELDS>;
export type TranslationStore = Store<TranslationState>;

export const TRANSLATION_STATE = codecFrom<TranslationState>(FIELDS);
