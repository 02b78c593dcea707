// What the reader can choose in this room.

import { HEADS, type Kind, LAYERS, LONGEST, WORDS } from "../../src/language/words.js";
import { codecFrom, initially, number, oneOf, type StateOf, text, wholes } from "../../src/model/fields.js";
import type { Store } from "../../src/model/store.js";
import { cutIntoWords, LONGEST_TEXT } from "../../src/model/tokens.js";

export const TEMPERATURES: readonly number[] = [0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 5];
/** The last one is all words, written 0. */
export const TOP_K: readonly number[] = [1, 2, 3, 4, 6, 8, 12, 20];
export const TOP_P: readonly number[] = [0.25, 0.5, 0.75, 0.9, 0.95, 1];

/** Each with the word that is hidden. */
export const SENTENCES: readonly { readonly name: string; readonly text: string; readonly at: number }[] = [
  { name: "the road", text: "the dog didn't cross the road because it was busy . it was the road", at: 9 },
  { name: "the dog", text: "the dog didn't cross the road because it was tired . it was the dog", at: 9 },
  { name: "a gift", text: "susan gave mary the ring . who got the ring ? mary", at: 2 },
  { name: "an owner", text: "the dog saw its owner mary and one waved a hand . that was mary", at: 8 },
];

const [FIRST = { text: "", at: 0 }] = SENTENCES;

const FIELDS = {
  kind: initially("masked", oneOf<Kind>("mask", ["masked", "causal"])),
  text: initially(FIRST.text, text("t", LONGEST_TEXT)),
  /** The word that is hidden, counted from 0. A causal model writes it from those before it. */
  at: initially(FIRST.at, number("at", 0, LONGEST)),
  /** The tokens that the causal model has written from there on. */
  wrote: initially([], wholes("wrote")),
  /** Heads that are switched off, counted through all layers. */
  off: initially([], wholes("off")),
  /** The head whose numbers are shown. */
  head: initially(4, number("head", 0, LAYERS * HEADS - 1)),
  temperature: initially(1, number("temperature", 0.1, 5, 2)),
  /** 0: all words. */
  topK: initially(0, number("k", 0, WORDS.length)),
  topP: initially(1, number("p", 0.01, 1, 2)),
  seed: initially(1, number("seed", 1, 9999)),
};

export type LanguageState = StateOf<typeof FIELDS>;
export type LanguageStore = Store<LanguageState>;

/** "Head 2 of layer 1": heads are counted through all layers. */
export const headName = (head: number): string => `Head ${(head % HEADS) + 1} of layer ${Math.floor(head / HEADS) + 1}`;

/** "1 · 2", likewise. */
export const shortHead = (head: number): string => `${Math.floor(head / HEADS) + 1} · ${(head % HEADS) + 1}`;

/** The words that are read, and how many do not fit. A blank is written as underscores. */
export const wordsOf = (text: string) => cutIntoWords(text.replace(/_+/g, " [mask] "), LONGEST);

/** A causal model needs a word to begin with, and may go on at the end. */
export const LANGUAGE_STATE = codecFrom<LanguageState>(FIELDS, (state) => {
  const { length } = wordsOf(state.text).words;
  const isCausal = state.kind === "causal";
  const at = Math.max(0, Math.min(Math.max(state.at, Number(isCausal)), isCausal ? length : length - 1));
  return {
    ...state,
    at,
    wrote: isCausal ? state.wrote.filter((id) => id < WORDS.length).slice(0, LONGEST - at) : [],
    off: state.off.filter((head, index, all) => head < LAYERS * HEADS && all.indexOf(head) === index),
  };
});
