// What the reader can choose in this room.

import { codecOf, number, oneOf, text } from "../../src/model/fields.js";
import { Store } from "../../src/model/store.js";
import { WIDEST } from "./beam.js";
import { ANSWER, NETWORKS, type Network } from "./reading.js";
import { RECORDED } from "./recorded.js";
import { GIVEN, type Given, STEPS } from "./training.js";

export interface TranslationState {
  readonly text: string;
  readonly network: Network;
  /** How many characters of the answer are written. */
  readonly written: number;
  /** How many branches a beam search keeps; 0 before anybody chose. */
  readonly beam: number;
  /** The characters that it begins with, as the reader chose them. */
  readonly begun: string;
  /** What the decoder is given in training. */
  readonly given: Given;
  /** How many steps what is shown was trained for; 0 before any training. */
  readonly step: number;
}

export type TranslationStore = Store<TranslationState>;

export const LONGEST = 72;

export function openTranslationStore(): TranslationStore {
  return new Store(
    codecOf<TranslationState>(
      { text: RECORDED.text, network: "bahdanau", written: ANSWER, beam: 0, begun: "", given: "right", step: 0 },
      {
        text: text("t", LONGEST),
        network: oneOf("network", NETWORKS),
        written: number("written", 0, ANSWER),
        beam: number("beam", 0, WIDEST),
        begun: text("begun", ANSWER),
        given: oneOf("given", GIVEN),
        step: number("step", 0, STEPS),
      },
    ),
  );
}
