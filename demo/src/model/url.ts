// The walk's state as the part of the address behind "#", and back. Only what differs from the initial state is written.

import { LEAST_WIDTH, MOST_WIDTH } from "./embed.js";
import { codecOf, type Field, matrixOrNone, number, oneOf, text, wholes } from "./fields.js";
import type { Matrix } from "./matrix.js";
import { readMatrix } from "./matrix-text.js";
import { consistent, INITIAL, MOST_HEADS, STEPS, type State } from "./state.js";
import { Store } from "./store.js";
import { MOST_TOKENS } from "./tokens.js";

const LONGEST_TEXT = 400;
const LARGEST_SCALE = 8;

export type WalkStore = Store<State>;

export function openWalkStore(): WalkStore {
  const { isTooLarge } = FLAT;
  return new Store({ initial: INITIAL, consistent, fromHash, toHash, isTooLarge }, ["step", "role", "all"]);
}

/** Each edited matrix has a name of its own in the address. */
type FlatState = Omit<State, "edited"> & Readonly<Record<"wq" | "wk" | "wv", Matrix | null>>;

function flat({ edited: { q, k, v }, ...rest }: State): FlatState {
  return { ...rest, wq: q, wk: k, wv: v };
}

const FLAT = codecOf<FlatState>(flat(INITIAL), {
  text: text("t", LONGEST_TEXT),
  numbers: { ...matrixOrNone("x"), read: readInput },
  width: number("d", LEAST_WIDTH, MOST_WIDTH),
  heads: number("h", 1, MOST_HEADS),
  scale: { key: "scale", write: String, read: readScale },
  causal: oneOf("causal", ["none", "lower-right", "upper-left"]),
  asking: number("asking", 0, MOST_TOKENS),
  hidden: wholes("hide"),
  wq: matrixOrNone("wq"),
  wk: matrixOrNone("wk"),
  wv: matrixOrNone("wv"),
  step: oneOf("step", STEPS),
  all: flag("all", "1"),
  loop: flag("loop", "1"),
  // Counted from 1 there.
  head: { key: "head", write: (head) => String(head + 1), read: readHead },
  role: oneOf("role", ["q", "k", "v"]),
  columns: flag("by", "columns"),
  asker: number("word", -1, MOST_TOKENS),
});

export function toHash(state: State): string {
  return FLAT.toHash(flat(state));
}

export function fromHash(hash: string): Partial<State> {
  const { wq: q = null, wk: k = null, wv: v = null, ...read } = FLAT.fromHash(hash);
  return q === null && k === null && v === null ? read : { ...read, edited: { q, k, v } };
}

function flag(key: string, said: string): Field<boolean> {
  return { key, write: (is) => (is ? said : ""), read: (written) => (written === said ? true : undefined) };
}

function readHead(written: string): number | undefined {
  return /^\d{1,3}$/.test(written) ? Number(written) - 1 : undefined;
}

function readScale(written: string): number | undefined {
  const scale = written.trim() === "" ? Number.NaN : Number(written);
  return scale >= 0 && scale <= LARGEST_SCALE ? scale : undefined;
}

function readInput(written: string): Matrix | undefined {
  const matrix = readMatrix(written);
  return matrix !== null && matrix.rows <= MOST_TOKENS && matrix.cols <= MOST_WIDTH ? matrix : undefined;
}
