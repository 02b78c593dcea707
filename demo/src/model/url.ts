// The state as the part of the address behind "#", and back. Only what differs from the initial state is written.

import { LEAST_WIDTH, MOST_WIDTH } from "./embed.js";
import { holdsTooLarge, readMatrix, writeMatrix } from "./matrix-text.js";
import { consistent, INITIAL, type Role, STEPS, type State } from "./state.js";
import { type Codec, Store } from "./store.js";
import { MOST_TOKENS } from "./tokens.js";

const LONGEST_TEXT = 400;

export type WalkStore = Store<State>;

export function openWalkStore(): WalkStore {
  return new Store(WALK_STATE, ["step", "all"]);
}

const WALK_STATE: Codec<State> = { initial: INITIAL, consistent, fromHash, toHash, isTooLarge };

export function toHash(state: State): string {
  const parts = new URLSearchParams();
  const put = (key: string, value: string, initial: string): void => {
    if (value !== initial) parts.set(key, value);
  };
  put("t", state.text, INITIAL.text);
  if (state.numbers !== null) parts.set("x", writeMatrix(state.numbers));
  put("d", String(state.width), String(INITIAL.width));
  put("h", String(state.heads), String(INITIAL.heads));
  put("scale", String(state.scale), String(INITIAL.scale));
  put("causal", state.causal, INITIAL.causal);
  put("asking", String(state.asking), String(INITIAL.asking));
  put("hide", state.hidden.join("."), "");
  for (const role of ["q", "k", "v"] as const) {
    const edit = state.edited[role];
    if (edit !== null) parts.set(`w${role}`, writeMatrix(edit));
  }
  put("step", state.step, INITIAL.step);
  put("all", state.all ? "1" : "", "");
  put("head", String(state.head + 1), String(INITIAL.head + 1));
  put("role", state.role, INITIAL.role);
  put("by", state.columns ? "columns" : "", "");
  put("word", String(state.asker), String(INITIAL.asker));
  const text = parts.toString();
  return text === "" ? "" : `#${text}`;
}

/** What the address says; anything that cannot be read is left out, as an address may come from anywhere. */
export function fromHash(hash: string): Partial<State> {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const read: { -readonly [K in keyof State]?: State[K] } = {};
  const text = parts.get("t");
  if (text !== null) read.text = text.slice(0, LONGEST_TEXT);
  const numbers = readMatrix(parts.get("x"));
  if (numbers !== null && numbers.rows <= MOST_TOKENS && numbers.cols <= MOST_WIDTH) read.numbers = numbers;
  const width = readNumber(parts.get("d"));
  if (width !== null && width >= LEAST_WIDTH) read.width = width;
  const heads = readNumber(parts.get("h"));
  if (heads !== null) read.heads = heads;
  const scale = readNumber(parts.get("scale"));
  if (scale !== null && scale >= 0 && scale <= 8) read.scale = scale;
  const causal = parts.get("causal");
  if (causal === "lower-right" || causal === "upper-left") read.causal = causal;
  const asking = readNumber(parts.get("asking"));
  if (asking !== null) read.asking = asking;
  const hidden = parts.get("hide");
  if (hidden !== null) read.hidden = hidden.split(".").map(Number).filter(Number.isInteger);
  const edited = { q: readMatrix(parts.get("wq")), k: readMatrix(parts.get("wk")), v: readMatrix(parts.get("wv")) };
  if (edited.q !== null || edited.k !== null || edited.v !== null) read.edited = edited;
  const step = STEPS.find((name) => name === parts.get("step"));
  if (step !== undefined) read.step = step;
  if (parts.get("all") === "1") read.all = true;
  const head = readNumber(parts.get("head"));
  if (head !== null) read.head = head - 1;
  const role = (["q", "k", "v"] satisfies Role[]).find((name) => name === parts.get("role"));
  if (role !== undefined) read.role = role;
  if (parts.get("by") === "columns") read.columns = true;
  const asker = readNumber(parts.get("word"));
  if (asker !== null && Number.isInteger(asker)) read.asker = Math.max(-1, asker);
  return read;
}

function isTooLarge(hash: string): boolean {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  return ["x", "wq", "wk", "wv"].some((key) => holdsTooLarge(parts.get(key)));
}

function readNumber(text: string | null): number | null {
  if (text === null || text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}
