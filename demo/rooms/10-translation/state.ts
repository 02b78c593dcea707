// What the reader can choose in this room.

import { codecOf, number, oneOf, text } from "../../src/model/fields.js";
import { Store } from "../../src/model/store.js";
import { ANSWER, NETWORKS, type Network } from "./reading.js";
import { RECORDED } from "./recorded.js";
import { STEPS } from "./training.js";

export interface TranslationState {
  readonly text: string;
  readonly network: Network;
  /** How many characters of the answer are written. */
  readonly written: number;
  /** How many steps what is shown was trained for; 0 before any training. */
  readonly step: number;
}

export type TranslationStore = Store<TranslationState>;

export const LONGEST = 72;

export function openTranslationStore(): TranslationStore {
  return new Store(
    codecOf<TranslationState>(
      { text: RECORDED.text, network: "bahdanau", written: ANSWER, step: 0 },
      {
        text: text("t", LONGEST),
        network: oneOf("network", NETWORKS),
        written: number("written", 0, ANSWER),
        step: number("step", 0, STEPS),
      },
    ),
  );
}
