// Everything that the reader can choose in the walk, its defaults, how it stands in the address, and the rules that keep the choices
// consistent.

import {
  BY,
  codecFrom,
  type Field,
  initially,
  matrixOrNone,
  number,
  oneOf,
  type StateOf,
  text,
  wholes,
} from "./fields.js";
import type { Matrix } from "./matrix.js";
import type { Store } from "./store.js";
import { cutIntoWords, LONGEST_TEXT, MOST_TOKENS } from "./tokens.js";
import { LEAST_WIDTH, MOST_WIDTH } from "./vocabulary.js";

export const STEPS = ["words", "project", "scores", "scale", "mask", "softmax", "output"] as const;
export type StepName = (typeof STEPS)[number];

const LARGEST_SCALE = 8;

const MOST_HEADS = 4;

const TYPED = matrixOrNone("x");

/** How each choice stands in the address, and what it is at first. */
const FIELDS = {
  text: initially("The animal didn't cross the road because it was too tired", text("t", LONGEST_TEXT)),
  /** X typed by hand; null: from the words. */
  numbers: initially<Matrix | null>(null, { ...TYPED, read: readInput }),
  width: initially(8, number("d", LEAST_WIDTH, MOST_WIDTH)),
  heads: initially(1, number("h", 1, MOST_HEADS)),
  /** "root": 1 / sqrt(head width); else the multiplier itself. */
  scale: initially<"root" | number>("root", { key: "scale", write: String, read: readScale }),
  causal: initially("none", oneOf("causal", ["none", "lower-right", "upper-left"])),
  /** How many of the last words ask; 0: all of them. */
  asking: initially(0, number("asking", 0, MOST_TOKENS)),
  /** Words that nobody may see (padding). */
  hidden: initially([], wholes("hide")),
  step: initially("words", oneOf("step", STEPS)),
  /** The numbers of all steps instead of one. */
  all: initially(false, flag("all")),
  /** Results are filled query by query instead of all at once. */
  loop: initially(false, flag("loop")),
  /** Counted from 1 in the address. */
  head: initially(0, { key: "head", write: (head: number) => String(head + 1), read: readHead }),
  /** Which of Q, K, V the projection step shows. */
  role: initially("q", oneOf("role", ["q", "k", "v"])),
  by: initially("rows", BY),
  /** The word in the light, by position; -1: the page chooses. */
  asker: initially(-1, number("word", -1, MOST_TOKENS)),
  /** Edited projection matrices; null: as given. */
  wq: initially(null, matrixOrNone("wq")),
  wk: initially(null, matrixOrNone("wk")),
  wv: initially(null, matrixOrNone("wv")),
};

export type State = StateOf<typeof FIELDS>;
export type Causal = State["causal"];
export type Role = State["role"];
export type WalkStore = Store<State>;

export const WALK_STATE = codecFrom<State>(FIELDS, consistent);
export const INITIAL = WALK_STATE.initial;

/** No projection is edited. */
export const NOTHING_EDITED = { wq: null, wk: null, wv: null };

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
function consistent(state: State): State {
  const heads = clampWhole(state.heads, 1, MOST_HEADS);
  const width = state.numbers?.cols ?? nearestWidth(state.width, heads);
  const count = state.numbers?.rows ?? cutIntoWords(state.text).words.length;
  const isOther = (edit: Matrix | null) => edit !== null && (edit.rows !== width || edit.cols !== width);
  return {
    ...state,
    ...([state.wq, state.wk, state.wv].some(isOther) ? NOTHING_EDITED : {}),
    width,
    heads: state.numbers !== null && width % heads !== 0 ? 1 : heads,
    asking: clampWhole(state.asking, 0, count),
    // The same objects where nothing changed: whoever compares states compares these by identity.
    hidden: state.hidden.every((index) => index < count) ? state.hidden : state.hidden.filter((index) => index < count),
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

function flag(key: string): Field<boolean> {
  return { key, write: (is) => (is ? "1" : ""), read: (written) => (written === "1" ? true : undefined) };
}

function readHead(written: string): number | undefined {
  return /^\d{1,3}$/.test(written) ? Number(written) - 1 : undefined;
}

function readScale(written: string): number | undefined {
  const scale = written.trim() === "" ? Number.NaN : Number(written);
  return scale >= 0 && scale <= LARGEST_SCALE ? scale : undefined;
}

function readInput(written: string): Matrix | undefined {
  const matrix = TYPED.read(written);
  return matrix && matrix.rows <= MOST_TOKENS && matrix.cols <= MOST_WIDTH ? matrix : undefined;
}
