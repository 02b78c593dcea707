// Everything that the reader can choose, its defaults, and the rules that keep the choices consistent.

import { LEAST_WIDTH, MOST_WIDTH } from "./embed.js";
import type { Matrix } from "./matrix.js";
import { cutIntoWords } from "./tokens.js";

export type Role = "q" | "k" | "v";
export type Causal = "none" | "lower-right" | "upper-left";

export const STEPS = ["words", "project", "scores", "scale", "mask", "softmax", "output"] as const;
export type StepName = (typeof STEPS)[number];

export interface State {
  readonly text: string;
  /** X typed by hand; null: from the words. */
  readonly numbers: Matrix | null;
  readonly width: number;
  readonly heads: number;
  /** "root": 1 / sqrt(head width); else the multiplier itself. */
  readonly scale: "root" | number;
  readonly causal: Causal;
  /** How many of the last words ask; 0: all of them. */
  readonly asking: number;
  /** Words that nobody may see (padding). */
  readonly hidden: readonly number[];
  /** Edited projection matrices; null: as given. */
  readonly edited: Readonly<Record<Role, Matrix | null>>;
  readonly step: StepName;
  /** The numbers of all steps instead of one. */
  readonly all: boolean;
  /** Results are filled query by query instead of all at once. */
  readonly loop: boolean;
  readonly head: number;
  /** Which of Q, K, V the projection step shows. */
  readonly role: Role;
  /** A word is a column instead of a row. */
  readonly columns: boolean;
  /** The word in the light, by position; -1: the page chooses. */
  readonly asker: number;
}

export const NOTHING_EDITED: State["edited"] = { q: null, k: null, v: null };

export const INITIAL: State = {
  text: "The animal didn't cross the road because it was too tired",
  numbers: null,
  width: 8,
  heads: 1,
  scale: "root",
  causal: "none",
  asking: 0,
  hidden: [],
  edited: NOTHING_EDITED,
  step: "words",
  all: false,
  loop: false,
  head: 0,
  role: "q",
  columns: false,
  asker: -1,
};

export const MOST_HEADS = 4;

/** Words of the sentence, or names for the rows of a typed matrix. */
export function labelsOf(state: State): readonly string[] {
  const { words } = cutIntoWords(state.text);
  const count = state.numbers?.rows ?? words.length;
  if (count === words.length) return words;
  return Array.from({ length: count }, (_, index) => `x${index + 1}`);
}

/** X was typed, and not merely changed under the words of the sentence. */
export function isNameless(state: State): boolean {
  return state.numbers !== null && state.numbers.rows !== cutIntoWords(state.text).words.length;
}

/** The nearest state that makes sense: a width that the heads divide, no edits of another width, no words that are gone. */
export function consistent(state: State): State {
  const heads = clampWhole(state.heads, 1, MOST_HEADS);
  const width = state.numbers?.cols ?? nearestWidth(state.width, heads);
  const count = state.numbers?.rows ?? cutIntoWords(state.text).words.length;
  const fits = (edited: State["edited"]): State["edited"] => {
    const wrong = Object.values(edited).some((edit) => edit !== null && (edit.rows !== width || edit.cols !== width));
    return wrong ? NOTHING_EDITED : edited;
  };
  return {
    ...state,
    width,
    heads: state.numbers !== null && width % heads !== 0 ? 1 : heads,
    asking: clampWhole(state.asking, 0, count),
    // The same objects where nothing changed: whoever compares states compares these by identity.
    hidden: state.hidden.every((index) => index < count) ? state.hidden : state.hidden.filter((index) => index < count),
    edited: fits(state.edited),
    head: clampWhole(state.head, 0, heads - 1),
    asker: state.asker < count ? state.asker : -1,
  };
}

function nearestWidth(width: number, heads: number): number {
  const wanted = clampWhole(width, LEAST_WIDTH, MOST_WIDTH);
  const up = Math.ceil(wanted / heads) * heads;
  return up <= MOST_WIDTH ? up : up - heads;
}

function clampWhole(value: number, least: number, most: number): number {
  return Number.isFinite(value) ? Math.min(most, Math.max(least, Math.round(value))) : least;
}
