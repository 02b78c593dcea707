// Sentences and settings worth starting from.

import { fill, identity } from "../model/matrix.js";
import { INITIAL, type State } from "../model/state.js";
import { cutIntoWords } from "../model/tokens.js";

interface Preset {
  readonly name: string;
  readonly state: State;
}

/** A preset says everything but where the reader stands in the walk. “it” is in the light, or the first word where there is none. */
const preset = (name: string, patch: Partial<State>): Preset => {
  const state = { ...INITIAL, ...patch };
  return { name, state: { ...state, asker: Math.max(0, cutIntoWords(state.text).words.indexOf("it")) } };
};

const ANIMAL = INITIAL.text;

export const PRESETS: readonly Preset[] = [
  preset("“it”, one head", {}),
  preset("“it”, two heads", { heads: 2 }),
  preset("too wide, not tired", { text: ANIMAL.replace("tired", "wide") }),
  preset("Causal: no looking ahead", {
    text: "The hungry fox saw a rabbit because it was slow",
    causal: "lower-right",
  }),
  preset("Causal: only the last word asks", {
    text: "The dog chased the cat and then it",
    causal: "lower-right",
    asking: 1,
  }),
  preset("Padding", { text: "Susan gave roses to Mary [pad] [pad] [pad]", width: 12, hidden: [5, 6, 7] }),
  preset("No parameters: softmax(XXᵀ) X", {
    scale: 1,
    edited: { q: identity(INITIAL.width), k: identity(INITIAL.width), v: null },
  }),
  preset("Just numbers", {
    text: "",
    numbers: fill(4, 4, (row, col) => [1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, -1, 0.5, 0.5, 0, 0][row * 4 + col] ?? 0),
    edited: {
      q: fill(4, 4, (row, col) => (row === col ? 2 : 0)),
      k: identity(4),
      v: null,
    },
  }),
];
